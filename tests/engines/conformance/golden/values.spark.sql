SELECT
  COUNT(*) AS `#sum0`
FROM (
  SELECT
    `#cell`
  FROM (
    SELECT
      *
    FROM (
      SELECT
        *,
        DENSE_RANK() OVER (
          PARTITION BY `#unit`
          ORDER BY SHA2(
            SHA2(COALESCE(CAST(CAST(`#unit` AS STRING) AS STRING), ''), 256) || SHA2(COALESCE(CAST(`#cell` AS STRING), ''), 256),
            256
          ) NULLS LAST, `#cell` NULLS LAST
        ) AS `#0place`
      FROM (
        SELECT
          `#unit`,
          `#cell`
        FROM (
          SELECT
            *,
            (
              CAST(1 AS DOUBLE) / CASE WHEN (
                ABS(`#2`) < CAST('Infinity' AS DOUBLE)
              ) THEN `#2` END
            ) AS `#3`
          FROM (
            SELECT
              *,
              (
                `#1` + CAST(1 AS DOUBLE)
              ) AS `#2`,
              CASE
                WHEN (
                  `#4` = 0.0e0
                )
                THEN 0.0e0
                WHEN (
                  ABS(`#4`) < CAST('Infinity' AS DOUBLE)
                )
                THEN `#4`
              END AS `#cell`
            FROM (
              SELECT
                *,
                (
                  `cost` * CAST(2 AS DOUBLE)
                ) AS `#1`,
                CASE WHEN (
                  ABS(`cost`) < CAST('Infinity' AS DOUBLE)
                ) THEN `cost` END AS `#4`
              FROM (
                SELECT
                  `#source`.`cost` AS `cost`,
                  `#source`.`patient` AS `#unit`
                FROM `visits` AS `#source`
              ) AS `#level0`
              WHERE
                (
                  NOT (
                    (
                      `#unit` IS NULL
                    )
                  )
                )
            ) AS `#level1`
          ) AS `#level2`
        ) AS `#rows`
        WHERE
          (
            NOT (
              (
                `#cell` IS NULL
              )
            )
          )
        GROUP BY
          `#unit`,
          `#cell`
      ) AS `#0all`
    ) AS `#0`
    WHERE
      (
        `#0place` <= 1
      )
  ) AS `#kept`
  GROUP BY
    `#cell`
) AS `#values`
