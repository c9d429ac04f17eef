SELECT
  "keys"."number",
  CASE
    WHEN (
      "totals"."#cell" IN ('A')
    )
    THEN 0
    WHEN (
      "totals"."#cell" IN ('x''y')
    )
    THEN 1
  END,
  "totals"."#sum0"
FROM "letalone_keys" AS "keys"
JOIN (
  SELECT
    "#key0",
    "#cell",
    SUM(
      (
        "#sum0" * (
          CAST((
            "#row weight" * "#pair weight"
          ) AS BIGINT) / CAST(1048576 AS BIGINT)
        )
      )
    ) AS "#sum0"
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(CASE WHEN (
            "#first" = 1
          ) THEN 1 END) OVER (PARTITION BY "#unit") <= 2
        )
        THEN 1048576
        ELSE (
          CAST(2097152 AS BIGINT) / CAST(COUNT(CASE WHEN (
            "#first" = 1
          ) THEN 1 END) OVER (PARTITION BY "#unit") AS BIGINT)
        )
      END AS "#pair weight",
      CASE
        WHEN (
          "#rows in all" <= 2
        )
        THEN 1048576
        ELSE (
          CAST(2097152 AS BIGINT) / CAST("#rows in all" AS BIGINT)
        )
      END AS "#row weight"
    FROM (
      SELECT
        *,
        ROW_NUMBER() OVER (PARTITION BY "#unit", "#key0" ORDER BY "#cell") AS "#first",
        CAST(SUM("#rows") OVER (PARTITION BY "#unit", "#key0") AS BIGINT) AS "#rows in all"
      FROM (
        SELECT
          "pairs".*
        FROM (
          SELECT
            "#unit",
            "#key0",
            "#cell",
            COUNT(*) AS "#sum0",
            COUNT(*) AS "#rows"
          FROM (
            SELECT
              "#key0",
              "#cell",
              "#unit"
            FROM (
              SELECT
                *,
                CASE WHEN (
                  ABS("#4") < CAST('Infinity' AS DOUBLE PRECISION)
                ) THEN "#4" END AS "#6"
              FROM (
                SELECT
                  *,
                  CASE
                    WHEN (
                      (
                        ABS("#2") < CAST('9.7453140114e+288' AS DOUBLE PRECISION)
                      )
                      OR (
                        ABS("#3") < CAST('9.7453140114e+288' AS DOUBLE PRECISION)
                      )
                    )
                    THEN (
                      "#2" + "#3"
                    )
                    WHEN (
                      ABS(
                        (
                          (
                            "#2" * CAST('0.5e0' AS DOUBLE PRECISION)
                          ) + (
                            "#3" * CAST('0.5e0' AS DOUBLE PRECISION)
                          )
                        )
                      ) < CAST('8.98846567431158e+307' AS DOUBLE PRECISION)
                    )
                    THEN (
                      "#2" + "#3"
                    )
                  END AS "#4"
                FROM (
                  SELECT
                    *,
                    CASE
                      WHEN (
                        (
                          ABS("cost") >= CAST('1.0e0' AS DOUBLE PRECISION)
                        )
                        AND (
                          ABS("#1") >= CAST('1.0e0' AS DOUBLE PRECISION)
                        )
                      )
                      THEN CASE
                        WHEN (
                          (
                            (
                              ABS("cost") * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)
                            ) * (
                              ABS("#1") * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)
                            )
                          ) < CAST('1.0e0' AS DOUBLE PRECISION)
                        )
                        THEN (
                          "cost" * "#1"
                        )
                      END
                      WHEN (
                        (
                          ABS("cost") < CAST('1.0e0' AS DOUBLE PRECISION)
                        )
                        AND (
                          ABS("#1") < CAST('1.0e0' AS DOUBLE PRECISION)
                        )
                      )
                      THEN CASE
                        WHEN (
                          (
                            ABS("cost") < CAST('2.778448436856347e-163' AS DOUBLE PRECISION)
                          )
                          AND (
                            ABS("#1") < CAST('2.778448436856347e-163' AS DOUBLE PRECISION)
                          )
                        )
                        THEN CAST('0.0e0' AS DOUBLE PRECISION)
                        WHEN (
                          (
                            (
                              ABS("cost") * CAST('1.3407807929942597e+154' AS DOUBLE PRECISION)
                            ) * (
                              ABS("#1") * CAST('1.3407807929942597e+154' AS DOUBLE PRECISION)
                            )
                          ) > CAST('4.440892098500626e-16' AS DOUBLE PRECISION)
                        )
                        THEN (
                          "cost" * "#1"
                        )
                        ELSE CAST('0.0e0' AS DOUBLE PRECISION)
                      END
                      ELSE (
                        "cost" * "#1"
                      )
                    END AS "#2",
                    CASE WHEN (
                      "#9" IN ('A', 'x''y')
                    ) THEN "#9" END AS "#cell"
                  FROM (
                    SELECT
                      *,
                      CAST(2 AS DOUBLE PRECISION) AS "#1",
                      CAST(1 AS DOUBLE PRECISION) AS "#3",
                      CAST(1 AS DOUBLE PRECISION) AS "#5",
                      "ward" AS "#key0",
                      TRANSLATE("ward", 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') AS "#9"
                    FROM (
                      SELECT
                        (
                          CAST("#source"."ward" AS TEXT) COLLATE "C"
                        ) AS "ward",
                        "#source"."cost" AS "cost",
                        (
                          CAST("#source"."patient" AS TEXT) COLLATE "C"
                        ) AS "#unit"
                      FROM "visits" AS "#source"
                    ) AS "#level0"
                    WHERE
                      (
                        NOT (
                          (
                            "#unit" IS NULL
                          )
                        )
                      )
                    OFFSET 0
                  ) AS "#level1"
                  OFFSET 0
                ) AS "#level2"
                OFFSET 0
              ) AS "#level3"
              OFFSET 0
            ) AS "#level4"
          ) AS "#rows"
          GROUP BY
            "#unit",
            "#key0",
            "#cell"
        ) AS "pairs"
        INNER JOIN "letalone_keys" AS "listed"
          ON (
            ARRAY["listed"."#key0"] = ARRAY["pairs"."#key0"]
          )
      ) AS "#cells"
    ) AS "#pairs"
  ) AS "#pairs kept"
  WHERE
    (
      NOT (
        (
          "#cell" IS NULL
        )
      )
    )
  GROUP BY
    "#key0",
    "#cell"
) AS "totals"
  ON (
    ARRAY["keys"."#key0"] = ARRAY["totals"."#key0"]
  )
