SELECT
  CASE
    WHEN (
      "totals"."#cell" IN (7.0e0)
    )
    THEN 0
    WHEN (
      "totals"."#cell" IN (0.0e0)
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
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN ISFINITE("#2") THEN "#2" END
      ) AS "#3"
    FROM (
      SELECT
        *,
        (
          "#1" + CAST(1 AS DOUBLE)
        ) AS "#2"
      FROM (
        SELECT
          *,
          (
            "cost" * CAST(2 AS DOUBLE)
          ) AS "#1",
          CASE WHEN (
            "cost" IN (7.0e0, 0.0e0)
          ) THEN "cost" END AS "#cell"
        FROM (
          SELECT
            CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
            "#weights"."w" AS "#weight"
          FROM "visits" AS "#source"
          POSITIONAL JOIN "weights" AS "#weights"
        ) AS "#level0"
      ) AS "#level1"
    ) AS "#level2"
  ) AS "#rows"
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
