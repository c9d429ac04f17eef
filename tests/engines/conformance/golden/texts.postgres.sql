SELECT
  "keys"."number",
  "totals"."#sum0",
  "totals"."#sum1"
FROM "letalone_keys" AS "keys"
LEFT JOIN (
  SELECT
    "#key0",
    SUM(
      (
        CAST("#sum0" AS DECIMAL) * (
          CAST((
            "#row weight" * "#pair weight"
          ) AS BIGINT) / CAST(1048576 AS BIGINT)
        )
      )
    ) AS "#sum0",
    SUM(
      (
        "#sum1" * (
          CAST((
            "#row weight" * "#pair weight"
          ) AS BIGINT) / CAST(1048576 AS BIGINT)
        )
      )
    ) AS "#sum1"
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
          "#rows" <= 1
        )
        THEN 1048576
        ELSE (
          CAST(1048576 AS BIGINT) / CAST("#rows" AS BIGINT)
        )
      END AS "#row weight"
    FROM (
      SELECT
        "pairs".*
      FROM (
        SELECT
          "#unit",
          "#key0",
          SUM("#12") AS "#sum0",
          COUNT("#12") AS "#sum1",
          COUNT(*) AS "#rows"
        FROM (
          SELECT
            "#key0",
            "#12",
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
                  CASE
                    WHEN (
                      "#11" < CAST('0.0e0' AS DOUBLE PRECISION)
                    )
                    THEN CAST((
                      -524288
                    ) AS BIGINT)
                    WHEN (
                      "#11" < CAST('128.0e0' AS DOUBLE PRECISION)
                    )
                    THEN (
                      CAST(FLOOR((
                        "#11" * CAST('8192.0e0' AS DOUBLE PRECISION)
                      )) AS BIGINT) - 524288
                    )
                    WHEN (
                      NOT (
                        (
                          "#11" IS NULL
                        )
                      )
                    )
                    THEN CAST(524288 AS BIGINT)
                  END AS "#12"
                FROM (
                  SELECT
                    *,
                    CAST(2 AS DOUBLE PRECISION) AS "#1",
                    CAST(1 AS DOUBLE PRECISION) AS "#3",
                    CAST(1 AS DOUBLE PRECISION) AS "#5",
                    TRIM(BOTH ' ' FROM "ward") AS "#8",
                    CAST("age" AS VARCHAR) AS "#9",
                    TRANSLATE(SUBSTR("ward", 1, 1), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') AS "#key0",
                    CAST(CAST(LENGTH("ward") AS BIGINT) AS DOUBLE PRECISION) AS "#11"
                  FROM (
                    SELECT
                      (
                        CAST("#source"."ward" AS TEXT) COLLATE "C"
                      ) AS "ward",
                      "#source"."cost" AS "cost",
                      CASE
                        WHEN (
                          "#source"."age" < 0
                        )
                        THEN 0
                        WHEN (
                          "#source"."age" > 100
                        )
                        THEN 100
                        ELSE "#source"."age"
                      END AS "age",
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
                WHERE
                  (
                    (
                      "ward" LIKE '%a%'
                    )
                    OR (
                      CASE
                        WHEN (
                          (
                            CAST(LENGTH("#8") AS BIGINT) + CAST(LENGTH("#9") AS BIGINT)
                          ) <= CAST(1000000 AS BIGINT)
                        )
                        THEN (
                          "#8" || "#9"
                        )
                      END = 'B65'
                    )
                  )
                OFFSET 0
              ) AS "#level2"
              OFFSET 0
            ) AS "#level3"
            OFFSET 0
          ) AS "#level4"
        ) AS "#rows"
        GROUP BY
          "#unit",
          "#key0"
      ) AS "pairs"
      INNER JOIN "letalone_keys" AS "listed"
        ON (
          ARRAY["listed"."#key0"] = ARRAY["pairs"."#key0"]
        )
    ) AS "#pairs"
  ) AS "#pairs kept"
  GROUP BY
    "#key0"
) AS "totals"
  ON (
    ARRAY["keys"."#key0"] = ARRAY["totals"."#key0"]
  )
