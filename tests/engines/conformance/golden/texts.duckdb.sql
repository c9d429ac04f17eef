SELECT
  "keys"."number",
  "totals"."#sum0",
  "totals"."#sum1"
FROM "letalone_keys" AS "keys"
LEFT JOIN (
  SELECT
    "#key0",
    SUM(
      (
        CAST("#sum0" AS INT128) * (
          (
            "#row weight" * "#pair weight"
          ) // 1048576
        )
      )
    ) AS "#sum0",
    SUM(
      (
        "#sum1" * (
          (
            "#row weight" * "#pair weight"
          ) // 1048576
        )
      )
    ) AS "#sum1"
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY "#unit") <= 2
        )
        THEN 1048576
        ELSE (
          2097152 // COUNT(*) OVER (PARTITION BY "#unit")
        )
      END AS "#pair weight",
      CASE WHEN (
        "#rows" <= 1
      ) THEN 1048576 ELSE (
        1048576 // "#rows"
      ) END AS "#row weight"
    FROM (
      SELECT
        "pairs".*
      FROM (
        SELECT
          "#unit",
          "#key0",
          SUM(CAST("#9" AS BIGINT)) AS "#sum0",
          COUNT("#9") AS "#sum1",
          COUNT(*) AS "#rows"
        FROM (
          SELECT
            "#key0",
            CASE
              WHEN (
                ABS("#8") < 9007199253692416.0e0
              )
              THEN (
                (
                  ABS("#8") - ABS((
                    "#8" - 1048576.0e0
                  ))
                ) * 0.5e0
              )
              WHEN (
                NOT (
                  (
                    "#7" IS NULL
                  )
                )
              )
              THEN CASE WHEN (
                "#8" < 0.0e0
              ) THEN (
                -524288.0e0
              ) ELSE 524288.0e0 END
            END AS "#9",
            "#unit"
          FROM (
            SELECT
              *,
              (
                "#1" + CAST(1 AS DOUBLE)
              ) AS "#2",
              FLOOR((
                "#7" * 8192.0e0
              )) AS "#8"
            FROM (
              SELECT
                *,
                (
                  "cost" * CAST(2 AS DOUBLE)
                ) AS "#1",
                TRIM("ward", ' ') AS "#4",
                CAST("age" AS TEXT) AS "#5",
                TRANSLATE(SUBSTR("ward", 1, 1), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') AS "#key0",
                CAST(CAST(LENGTH("ward") AS BIGINT) AS DOUBLE) AS "#7"
              FROM (
                SELECT
                  "#source"."ward" AS "ward",
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
            WHERE
              (
                (
                  "ward" LIKE '%a%'
                )
                OR (
                  CASE
                    WHEN (
                      (
                        CAST(LENGTH("#4") AS BIGINT) + CAST(LENGTH("#5") AS BIGINT)
                      ) <= CAST(1000000 AS BIGINT)
                    )
                    THEN (
                      "#4" || "#5"
                    )
                  END = 'B65'
                )
              )
          ) AS "#level2"
        ) AS "#rows"
        GROUP BY
          "#unit",
          "#key0"
      ) AS "pairs"
      INNER JOIN "letalone_keys" AS "listed"
        ON (
          "listed"."#key0" IS NOT DISTINCT FROM "pairs"."#key0"
        )
    ) AS "#pairs"
  ) AS "#pairs kept"
  GROUP BY
    "#key0"
) AS "totals"
  ON (
    "keys"."#key0" IS NOT DISTINCT FROM "totals"."#key0"
  )
