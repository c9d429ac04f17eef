SELECT
  SUM((
    (
      (
        CAST("#9" AS INT128) * "#9"
      ) * "#10"
    ) * "#10"
  )) AS "#sum0"
FROM (
  SELECT
    *,
    CASE
      WHEN (
        (
          NOT (
            (
              "#5" IS NULL
            )
          )
        )
        AND (
          NOT (
            (
              "#8" IS NULL
            )
          )
        )
      )
      THEN CAST("#5" AS BIGINT)
    END AS "#9",
    CASE
      WHEN (
        (
          NOT (
            (
              "#5" IS NULL
            )
          )
        )
        AND (
          NOT (
            (
              "#8" IS NULL
            )
          )
        )
      )
      THEN CAST("#8" AS BIGINT)
    END AS "#10"
  FROM (
    SELECT
      *,
      (
        CAST(1 AS DOUBLE) / CASE WHEN ISFINITE("#2") THEN "#2" END
      ) AS "#3",
      CASE
        WHEN (
          ABS("#7") < 9007199253692416.0e0
        )
        THEN (
          (
            ABS("#7") - ABS((
              "#7" - 1048576.0e0
            ))
          ) * 0.5e0
        )
        WHEN (
          NOT (
            (
              "#6" IS NULL
            )
          )
        )
        THEN CASE WHEN (
          "#7" < 0.0e0
        ) THEN (
          -524288.0e0
        ) ELSE 524288.0e0 END
      END AS "#8"
    FROM (
      SELECT
        *,
        (
          "#1" + CAST(1 AS DOUBLE)
        ) AS "#2",
        CASE
          WHEN (
            ABS("#4") < 9007199253716992.0e0
          )
          THEN (
            (
              ABS("#4") - ABS((
                "#4" - 1024000.0e0
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
            "#4" < 0.0e0
          ) THEN (
            -512000.0e0
          ) ELSE 512000.0e0 END
        END AS "#5",
        FLOOR((
          "#6" * 8192.0e0
        )) AS "#7"
      FROM (
        SELECT
          *,
          (
            "cost" * CAST(2 AS DOUBLE)
          ) AS "#1",
          FLOOR((
            "cost" * 1024.0e0
          )) AS "#4",
          CAST("age" AS DOUBLE) AS "#6"
        FROM (
          SELECT
            CASE WHEN ISFINITE("#source"."cost") THEN "#source"."cost" END AS "cost",
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
  ) AS "#level3"
) AS "#rows"
