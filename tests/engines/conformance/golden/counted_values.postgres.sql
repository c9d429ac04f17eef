SELECT
  CASE
    WHEN (
      "totals"."#cell" IN (CAST('7.0e0' AS DOUBLE PRECISION))
    )
    THEN 0
    WHEN (
      "totals"."#cell" IN (CAST('0.0e0' AS DOUBLE PRECISION))
    )
    THEN 1
  END,
  "totals"."#sum0"
FROM (
  SELECT
    "#cell",
    SUM("#weight") AS "#sum0"
  FROM (
    SELECT
      "#cell",
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY "#unit") <= 1
        )
        THEN 1048576
        ELSE (
          CAST(1048576 AS BIGINT) / CAST(COUNT(*) OVER (PARTITION BY "#unit") AS BIGINT)
        )
      END AS "#weight"
    FROM (
      SELECT
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
              CASE
                WHEN (
                  "#8" IN (CAST('7.0e0' AS DOUBLE PRECISION), CAST('0.0e0' AS DOUBLE PRECISION))
                )
                THEN "#8"
              END AS "#cell"
            FROM (
              SELECT
                *,
                CAST(2 AS DOUBLE PRECISION) AS "#1",
                CAST(1 AS DOUBLE PRECISION) AS "#3",
                CAST(1 AS DOUBLE PRECISION) AS "#5",
                CASE WHEN (
                  ABS("cost") < CAST('Infinity' AS DOUBLE PRECISION)
                ) THEN "cost" END AS "#8"
              FROM (
                SELECT
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
  ) AS "#weighed"
  WHERE
    (
      NOT (
        (
          "#cell" IS NULL
        )
      )
    )
  GROUP BY
    "#cell"
) AS "totals"
