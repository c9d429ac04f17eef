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
      "#6" * "#weight"
    )) AS "#sum1",
    SUM(CASE WHEN (
      NOT (
        (
          "#6" IS NULL
        )
      )
    ) THEN "#weight" END) AS "#sum2"
  FROM (
    SELECT
      "#key0",
      "#6",
      CASE WHEN (
        "#n" <= 3
      ) THEN 1048576 ELSE (
        3145728 // "#n"
      ) END AS "#weight"
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
            THEN CAST((
              (
                ABS("#5") - ABS((
                  "#5" - 1024000.0e0
                ))
              ) * 0.5e0
            ) AS BIGINT)
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
              -512000
            ) ELSE 512000 END
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
              "#counts"."n" AS "#n"
            FROM "visits" AS "#source"
            POSITIONAL JOIN "counts" AS "#counts"
          ) AS "#level0"
          WHERE
            (
              "#n" > 0
            )
        ) AS "#level1"
      ) AS "#level2"
    ) AS "#rows"
  ) AS "#weighed"
  GROUP BY
    "#key0"
) AS "totals"
  ON (
    "keys"."#key0" IS NOT DISTINCT FROM "totals"."#key0"
  )
