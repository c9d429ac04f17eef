SELECT
  "keys"."number",
  "totals"."#sum0",
  "totals"."#sum1",
  "totals"."#sum2"
FROM "letalone_keys" AS "keys"
LEFT JOIN (
  SELECT
    "#key0",
    "#key1",
    SUM("#pair weight") AS "#sum0",
    SUM(
      (
        CAST("#sum1" AS DECIMAL) * (
          CAST((
            "#row weight" * "#pair weight"
          ) AS BIGINT) / CAST(1048576 AS BIGINT)
        )
      )
    ) AS "#sum1",
    SUM(
      (
        "#sum2" * (
          CAST((
            "#row weight" * "#pair weight"
          ) AS BIGINT) / CAST(1048576 AS BIGINT)
        )
      )
    ) AS "#sum2"
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY "#unit") <= 2
        )
        THEN 1048576
        ELSE (
          CAST(2097152 AS BIGINT) / CAST(COUNT(*) OVER (PARTITION BY "#unit") AS BIGINT)
        )
      END AS "#pair weight",
      CASE
        WHEN (
          "#rows" <= 2
        )
        THEN 1048576
        ELSE (
          CAST(2097152 AS BIGINT) / CAST("#rows" AS BIGINT)
        )
      END AS "#row weight"
    FROM (
      SELECT
        "pairs".*
      FROM (
        SELECT
          "#unit",
          "#key0",
          "#key1",
          COUNT(*) AS "#sum0",
          SUM("#10") AS "#sum1",
          COUNT("#10") AS "#sum2",
          COUNT(*) AS "#rows"
        FROM (
          SELECT
            "#key0",
            "#key1",
            "#10",
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
                  END AS "#2"
                FROM (
                  SELECT
                    *,
                    CAST(2 AS DOUBLE PRECISION) AS "#1",
                    CAST(1 AS DOUBLE PRECISION) AS "#3",
                    CAST(1 AS DOUBLE PRECISION) AS "#5",
                    "day" AS "#key0",
                    "urgent" AS "#key1",
                    CASE
                      WHEN (
                        "cost" < CAST('0.0e0' AS DOUBLE PRECISION)
                      )
                      THEN CASE
                        WHEN (
                          "cost" > CAST('-Infinity' AS DOUBLE PRECISION)
                        )
                        THEN CAST((
                          -512000
                        ) AS BIGINT)
                      END
                      WHEN (
                        "cost" < CAST('1000.0e0' AS DOUBLE PRECISION)
                      )
                      THEN (
                        CAST(FLOOR((
                          "cost" * CAST('1024.0e0' AS DOUBLE PRECISION)
                        )) AS BIGINT) - 512000
                      )
                      WHEN (
                        ABS("cost") < CAST('Infinity' AS DOUBLE PRECISION)
                      )
                      THEN CAST(512000 AS BIGINT)
                    END AS "#10"
                  FROM (
                    SELECT
                      "#source"."cost" AS "cost",
                      CASE
                        WHEN (
                          (
                            "#source"."day" >= CAST('0001-01-01' AS DATE)
                          )
                          AND (
                            "#source"."day" <= CAST('9999-12-31' AS DATE)
                          )
                        )
                        THEN "#source"."day"
                      END AS "day",
                      "#source"."urgent" AS "urgent",
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
          "#key1"
      ) AS "pairs"
      INNER JOIN "letalone_keys" AS "listed"
        ON (
          (
            "listed"."#key0" = "pairs"."#key0"
          )
          AND (
            "listed"."#key1" IS NOT DISTINCT FROM "pairs"."#key1"
          )
        )
    ) AS "#pairs"
  ) AS "#pairs kept"
  GROUP BY
    "#key0",
    "#key1"
) AS "totals"
  ON (
    (
      "keys"."#key0" = "totals"."#key0"
    )
    AND (
      "keys"."#key1" IS NOT DISTINCT FROM "totals"."#key1"
    )
  )
