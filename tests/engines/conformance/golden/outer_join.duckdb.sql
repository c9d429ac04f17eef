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
      "#7" * CAST("#weight" AS DOUBLE)
    ) AS BIGINT)) AS "#sum1",
    SUM(CASE WHEN (
      "#7" IS NULL
    ) THEN "#weight" END) AS "#sum2"
  FROM (
    SELECT
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN ISFINITE("#2") THEN "#2" END
      ) AS "#3",
      CASE
        WHEN (
          ABS("#6") < 9007199254740892.0e0
        )
        THEN (
          (
            ABS("#6") - ABS((
              "#6" - 100.0e0
            ))
          ) * 0.5e0
        )
        WHEN (
          NOT (
            (
              "#5" IS NULL
            )
          )
        )
        THEN CASE WHEN (
          "#6" < 0.0e0
        ) THEN (
          -50.0e0
        ) ELSE 50.0e0 END
      END AS "#7"
    FROM (
      SELECT
        *,
        (
          "#1" + CAST(1 AS DOUBLE)
        ) AS "#2",
        FLOOR((
          "#5" * 1.0e0
        )) AS "#6"
      FROM (
        SELECT
          *,
          (
            "cost" * CAST(2 AS DOUBLE)
          ) AS "#1",
          "ward" AS "#key0",
          CAST("beds" AS DOUBLE) AS "#5"
        FROM (
          SELECT
            "#below0".*,
            "#public0"."beds" AS "beds"
          FROM (
            SELECT
              "#source"."ward" AS "ward",
              CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
              "#weights"."w" AS "#weight"
            FROM "visits" AS "#source"
            POSITIONAL JOIN "weights" AS "#weights"
          ) AS "#below0"
          LEFT JOIN "wards" AS "#public0"
            ON (
              "#below0"."ward" = "#public0"."name"
            )
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
