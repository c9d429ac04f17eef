SELECT
  "keys"."number",
  "totals"."#sum0"
FROM "letalone_keys" AS "keys"
LEFT JOIN (
  SELECT
    "#key0",
    SUM("#weight") AS "#sum0"
  FROM (
    SELECT
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN ISFINITE("#2") THEN "#2" END
      ) AS "#3"
    FROM (
      SELECT
        *,
        (
          "#1" + CAST(1 AS DOUBLE)
        ) AS "#2",
        (
          CASE
            WHEN (
              "#4" = 1
            )
            THEN 'Monday'
            WHEN (
              "#4" = 2
            )
            THEN 'Tuesday'
            WHEN (
              "#4" = 3
            )
            THEN 'Wednesday'
            WHEN (
              "#4" = 4
            )
            THEN 'Thursday'
            WHEN (
              "#4" = 5
            )
            THEN 'Friday'
            WHEN (
              "#4" = 6
            )
            THEN 'Saturday'
            WHEN (
              "#4" = 7
            )
            THEN 'Sunday'
          END || ' ' || SUBSTR(CAST((
            "#5" + 10000
          ) AS TEXT), 5)
        ) AS "#key0"
      FROM (
        SELECT
          *,
          (
            "cost" * CAST(2 AS DOUBLE)
          ) AS "#1",
          CAST(EXTRACT(ISODOW FROM "day") AS BIGINT) AS "#4",
          CAST(EXTRACT(QUARTER FROM "day") AS BIGINT) AS "#5"
        FROM (
          SELECT
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
            "#weights"."w" AS "#weight"
          FROM "visits" AS "#source"
          POSITIONAL JOIN "weights" AS "#weights"
        ) AS "#level0"
      ) AS "#level1"
    ) AS "#level2"
  ) AS "#rows"
  GROUP BY
    "#key0"
) AS "totals"
  ON (
    "keys"."#key0" IS NOT DISTINCT FROM "totals"."#key0"
  )
