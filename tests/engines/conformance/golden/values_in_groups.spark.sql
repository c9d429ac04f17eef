SELECT
  `keys`.`number`,
  `totals`.`#sum0`
FROM `letalone_keys` AS `keys`
LEFT JOIN (
  SELECT
    `#key0`,
    COUNT(*) AS `#sum0`
  FROM (
    SELECT
      `#key0`,
      `#cell`
    FROM (
      SELECT
        *
      FROM (
        SELECT
          *,
          DENSE_RANK() OVER (
            PARTITION BY `#unit`, `#key0`
            ORDER BY SHA2(
              SHA2(COALESCE(CAST(CAST(`#unit` AS STRING) AS STRING), ''), 256) || SHA2(COALESCE(CAST(`#key0` AS STRING), ''), 256) || SHA2(COALESCE(CAST(`#cell` AS STRING), ''), 256),
              256
            ) NULLS LAST, `#cell` NULLS LAST
          ) AS `#1place`
        FROM (
          SELECT
            *
          FROM (
            SELECT
              *,
              DENSE_RANK() OVER (
                PARTITION BY `#unit`
                ORDER BY SHA2(
                  SHA2(COALESCE(CAST(CAST(`#unit` AS STRING) AS STRING), ''), 256) || SHA2(COALESCE(CAST(`#key0` AS STRING), ''), 256),
                  256
                ) NULLS LAST, `#key0` NULLS LAST
              ) AS `#0place`
            FROM (
              SELECT
                `pairs`.*
              FROM (
                SELECT
                  `#unit`,
                  `#key0`,
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
                        `ward` AS `#key0`,
                        `year` AS `#cell`
                      FROM (
                        SELECT
                          TRY_VALIDATE_UTF8(`#source`.`ward`) AS `ward`,
                          `#source`.`year` AS `year`,
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
                  `#key0`,
                  `#cell`
              ) AS `pairs`
              INNER JOIN `letalone_keys` AS `listed`
                ON (
                  `listed`.`#key0` IS NOT DISTINCT FROM `pairs`.`#key0`
                )
            ) AS `#0all`
          ) AS `#0`
          WHERE
            (
              `#0place` <= 2
            )
        ) AS `#1all`
      ) AS `#1`
      WHERE
        (
          `#1place` <= 1
        )
    ) AS `#kept`
    GROUP BY
      `#key0`,
      `#cell`
  ) AS `#values`
  GROUP BY
    `#key0`
) AS `totals`
  ON (
    `keys`.`#key0` IS NOT DISTINCT FROM `totals`.`#key0`
  )
