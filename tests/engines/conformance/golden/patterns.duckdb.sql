SELECT
  SUM(CAST("#11" AS BIGINT)) AS "#sum0",
  COUNT("#11") AS "#sum1"
FROM (
  SELECT
    *
  FROM (
    SELECT
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN ISFINITE("#2") THEN "#2" END
      ) AS "#3",
      STRPOS("#7", '''') AS "#8",
      CASE
        WHEN (
          ABS("#10") < 9007199254740922.0e0
        )
        THEN (
          (
            ABS((
              "#10" - (
                -50.0e0
              )
            )) - ABS((
              "#10" - 70.0e0
            ))
          ) * 0.5e0
        )
        WHEN (
          NOT (
            (
              "#9" IS NULL
            )
          )
        )
        THEN CASE WHEN (
          "#10" < (
            -50.0e0
          )
        ) THEN (
          -60.0e0
        ) ELSE 60.0e0 END
      END AS "#11"
    FROM (
      SELECT
        *,
        (
          "#1" + CAST(1 AS DOUBLE)
        ) AS "#2",
        STRPOS("#4", '''_') AS "#5",
        SUBSTR("ward", (
          "#6" + 1
        )) AS "#7",
        FLOOR((
          "#9" * 64.0e0
        )) AS "#10"
      FROM (
        SELECT
          *,
          (
            "cost" * CAST(2 AS DOUBLE)
          ) AS "#1",
          SUBSTR("ward", 2, GREATEST((
            LENGTH("ward") - 2
          ), 0)) AS "#4",
          STRPOS("ward", 'a') AS "#6",
          CAST(DATE_DIFF('day', CAST(DATE_TRUNC('day', "at") AS DATE), "day") AS DOUBLE) AS "#9"
        FROM (
          SELECT
            "#source"."ward" AS "ward",
            CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
            CASE
              WHEN (
                ISFINITE("#source"."day")
                AND (
                  "#source"."day" >= CAST('0001-01-01' AS DATE)
                )
                AND (
                  "#source"."day" <= CAST('9999-12-31' AS DATE)
                )
              )
              THEN "#source"."day"
            END AS "day",
            CASE
              WHEN (
                ISFINITE("#source"."at")
                AND (
                  "#source"."at" >= CAST('0001-01-01' AS TIMESTAMP)
                )
                AND (
                  "#source"."at" <= CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP)
                )
              )
              THEN "#source"."at"
            END AS "at",
            "#source"."patient" AS "#unit"
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
      ) AS "#level1"
    ) AS "#level2"
  ) AS "#levels"
  WHERE
    (
      (
        (
          "ward" LIKE 'x%'
        )
        AND (
          "ward" LIKE '%y'
        )
        AND (
          CAST(LENGTH("ward") AS BIGINT) >= CAST(2 AS BIGINT)
        )
        AND (
          "#5" > 0
        )
        AND (
          SUBSTR("#4", (
            "#5" + 2
          )) LIKE '%_%'
        )
      )
      OR (
        (
          "#6" > 0
        )
        AND (
          "#8" > 0
        )
        AND (
          SUBSTR("#7", (
            "#8" + 1
          )) LIKE '%b_++%' ESCAPE '+'
        )
      )
    )
) AS "#rows"
