SELECT
  COUNT(*) AS "#sum0"
FROM (
  SELECT
    "#cell"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        *,
        DENSE_RANK() OVER (
          PARTITION BY "#unit"
          ORDER BY SHA256(
            SHA256(COALESCE(CAST(CAST("#unit" AS TEXT) AS TEXT), '')) || SHA256(COALESCE(CAST("#cell" AS TEXT), ''))
          ), "#cell"
        ) AS "#0place"
      FROM (
        SELECT
          "#unit",
          "#cell"
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
                  "cost" = 0.0e0
                ) THEN 0.0e0 WHEN ISFINITE("cost") THEN "cost" END AS "#cell"
              FROM (
                SELECT
                  CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
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
          "#unit",
          "#cell"
      ) AS "#0all"
    ) AS "#0"
    WHERE
      (
        "#0place" <= 1
      )
  ) AS "#kept"
  GROUP BY
    "#cell"
) AS "#values"
