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
    SUM(CAST((
      "#6" * CAST("#weight" AS DOUBLE)
    ) AS BIGINT)) AS "#sum1",
    SUM(CASE WHEN (
      "#6" IS NULL
    ) THEN "#weight" END) AS "#sum2"
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
        CASE
          WHEN (
            ABS("#5") < 9007199253716992.0e0
          )
          THEN (
            (
              ABS("#5") - ABS((
                "#5" - 1024000.0e0
              ))
            ) * 0.5e0
          )
          WHEN (
            NOT (
              (
                "cost" IS NULL
              )
            )
          )
          THEN CASE WHEN (
            "#5" < 0.0e0
          ) THEN (
            -512000.0e0
          ) ELSE 512000.0e0 END
        END AS "#6"
      FROM (
        SELECT
          *,
          (
            "cost" * CAST(2 AS DOUBLE)
          ) AS "#1",
          "ward" AS "#key0",
          FLOOR((
            "cost" * 1024.0e0
          )) AS "#5"
        FROM (
          SELECT
            "#source"."ward" AS "ward",
            CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
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
