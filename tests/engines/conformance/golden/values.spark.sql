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
            COALESCE(CAST(`#unit` AS STRING), '') || CAST(X'7c' AS STRING) || COALESCE(CAST(`#cell` AS STRING), ''),
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
              ) AS `#2`
            FROM (
              SELECT
                *,
                (
                  `cost` * CAST(2 AS DOUBLE)
                ) AS `#1`,
                CASE WHEN (
                  ABS(`cost`) < CAST('Infinity' AS DOUBLE)
                ) THEN `cost` END AS `#cell`
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
