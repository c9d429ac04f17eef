SELECT
  "keys"."number",
  "totals"."#sum0",
  "totals"."#sum1",
  "totals"."#sum2"
FROM "letalone_keys" AS "keys"
LEFT JOIN (
  SELECT
    "#key0",
    SUM("#weight") AS "#sum0",
    SUM((
      "#10" * "#weight"
    )) AS "#sum1",
    SUM(CASE WHEN (
      "#10" IS NULL
    ) THEN "#weight" END) AS "#sum2"
  FROM (
    SELECT
      "#key0",
      "#10",
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY "#unit") <= 2
        )
        THEN 1048576
        ELSE (
          CAST(2097152 AS BIGINT) / CAST(COUNT(*) OVER (PARTITION BY "#unit") AS BIGINT)
        )
      END AS "#weight"
    FROM (
      SELECT
        *,
        CASE
          WHEN (
            (
              "#5" IS NULL
            ) OR (
              "#6" IS NULL
            )
          )
          THEN CAST(NULL AS DOUBLE PRECISION)
          WHEN (
            ABS("#6") >= CAST('1.0e0' AS DOUBLE PRECISION)
          )
          THEN CASE
            WHEN (
              ABS("#5") >= CAST('9.094947017729282e-13' AS DOUBLE PRECISION)
            )
            THEN (
              "#5" / "#6"
            )
            WHEN (
              (
                (
                  ABS("#5") * CAST('1.3407807929942597e+154' AS DOUBLE PRECISION)
                ) / (
                  ABS("#6") * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)
                )
              ) > CAST('4.440892098500626e-16' AS DOUBLE PRECISION)
            )
            THEN (
              "#5" / "#6"
            )
            ELSE CAST('0.0e0' AS DOUBLE PRECISION)
          END
          WHEN (
            ABS("#6") > CAST('0.0e0' AS DOUBLE PRECISION)
          )
          THEN CASE
            WHEN (
              (
                ABS("#5") < CAST('8.673617379884035e-19' AS DOUBLE PRECISION)
              )
              OR (
                (
                  ABS("#5") < CAST('1.0e0' AS DOUBLE PRECISION)
                )
                AND (
                  ABS("#6") >= CAST('9.332636185032189e-302' AS DOUBLE PRECISION)
                )
              )
            )
            THEN (
              "#5" / "#6"
            )
            WHEN (
              (
                ABS("#5") >= CAST('1.0e0' AS DOUBLE PRECISION)
              )
              AND (
                NOT (
                  (
                    ABS("#6") > CAST('5.562684646268003e-309' AS DOUBLE PRECISION)
                  )
                )
              )
            )
            THEN CAST(NULL AS DOUBLE PRECISION)
            WHEN (
              (
                (
                  ABS("#5") * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)
                ) / (
                  ABS("#6") * CAST('1.3407807929942597e+154' AS DOUBLE PRECISION)
                )
              ) < CAST('1.0e0' AS DOUBLE PRECISION)
            )
            THEN (
              "#5" / "#6"
            )
          END
        END AS "#7"
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
                  "#9" < CAST('0.0e0' AS DOUBLE PRECISION)
                )
                THEN CAST((
                  -50
                ) AS BIGINT)
                WHEN (
                  "#9" < CAST('100.0e0' AS DOUBLE PRECISION)
                )
                THEN (
                  CAST(FLOOR((
                    "#9" * CAST('1.0e0' AS DOUBLE PRECISION)
                  )) AS BIGINT) - 50
                )
                WHEN (
                  NOT (
                    (
                      "#9" IS NULL
                    )
                  )
                )
                THEN CAST(50 AS BIGINT)
              END AS "#10"
            FROM (
              SELECT
                *,
                CAST(2 AS DOUBLE PRECISION) AS "#1",
                CAST(1 AS DOUBLE PRECISION) AS "#3",
                CAST(1 AS DOUBLE PRECISION) AS "#5",
                "ward" AS "#key0",
                CAST("beds" AS DOUBLE PRECISION) AS "#9"
              FROM (
                SELECT
                  "#below0".*,
                  "#public0"."beds" AS "beds"
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
                ) AS "#below0"
                LEFT JOIN "wards" AS "#public0"
                  ON (
                    "#below0"."ward" = (
                      CAST("#public0"."name" AS TEXT) COLLATE "C"
                    )
                  )
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
  GROUP BY
    "#key0"
) AS "totals"
  ON (
    ARRAY["keys"."#key0"] = ARRAY["totals"."#key0"]
  )
