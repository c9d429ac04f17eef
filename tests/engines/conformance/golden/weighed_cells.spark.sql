SELECT
  `keys`.`number`,
  `totals`.`#cell`,
  `totals`.`#sum0`
FROM `letalone_keys` AS `keys`
JOIN (
  SELECT
    `#key0`,
    `#cell`,
    SUM(
      CAST((
        `#sum0` * (
          (
            `#row weight` * `#pair weight`
          ) DIV 1048576
        )
      ) AS DECIMAL(38, 0))
    ) AS `#sum0`
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(CASE WHEN (
            `#first` = 1
          ) THEN 1 END) OVER (PARTITION BY `#unit`) <= 2
        )
        THEN 1048576
        ELSE (
          2097152 DIV COUNT(CASE WHEN (
            `#first` = 1
          ) THEN 1 END) OVER (PARTITION BY `#unit`)
        )
      END AS `#pair weight`,
      CASE
        WHEN (
          `#rows in all` <= 2
        )
        THEN 1048576
        ELSE (
          2097152 DIV `#rows in all`
        )
      END AS `#row weight`
    FROM (
      SELECT
        *,
        ROW_NUMBER() OVER (PARTITION BY `#unit`, `#key0` ORDER BY `#cell` NULLS LAST) AS `#first`,
        CAST(SUM(CAST(`#rows` AS DECIMAL(38, 0))) OVER (PARTITION BY `#unit`, `#key0`) AS BIGINT) AS `#rows in all`
      FROM (
        SELECT
          `pairs`.*
        FROM (
          SELECT
            `#unit`,
            `#key0`,
            `#cell`,
            COUNT(*) AS `#sum0`,
            COUNT(*) AS `#rows`
          FROM (
            SELECT
              `#key0`,
              CASE
                WHEN (
                  NOT (
                    (
                      `#5` IS NULL
                    )
                  )
                )
                THEN GREATEST(
                  CAST(0 AS BIGINT),
                  LEAST(
                    CASE
                      WHEN (
                        `#5` < (
                          (
                            0.0e0 + (
                              CAST(`#6` AS DOUBLE) * 25.0e0
                            )
                          ) / 1.0e0
                        )
                      )
                      THEN (
                        `#6` - 1
                      )
                      WHEN (
                        `#5` >= (
                          (
                            0.0e0 + (
                              CAST((
                                `#6` + 1
                              ) AS DOUBLE) * 25.0e0
                            )
                          ) / 1.0e0
                        )
                      )
                      THEN (
                        `#6` + 1
                      )
                      ELSE `#6`
                    END,
                    CAST(3 AS BIGINT)
                  )
                )
              END AS `#cell`,
              `#unit`
            FROM (
              SELECT
                *,
                (
                  `#1` + CAST(1 AS DOUBLE)
                ) AS `#2`,
                CAST(FLOOR(
                  LEAST(
                    GREATEST((
                      (
                        (
                          `#5` * 1.0e0
                        ) - 0.0e0
                      ) / 25.0e0
                    ), 0.0e0),
                    3.0e0
                  )
                ) AS BIGINT) AS `#6`
              FROM (
                SELECT
                  *,
                  (
                    `cost` * CAST(2 AS DOUBLE)
                  ) AS `#1`,
                  `ward` AS `#key0`,
                  CAST(`age` AS DOUBLE) AS `#5`
                FROM (
                  SELECT
                    TRY_VALIDATE_UTF8(`#source`.`ward`) AS `ward`,
                    `#source`.`cost` AS `cost`,
                    CASE
                      WHEN (
                        `#source`.`age` < 0
                      )
                      THEN 0
                      WHEN (
                        `#source`.`age` > 100
                      )
                      THEN 100
                      ELSE `#source`.`age`
                    END AS `age`,
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
          GROUP BY
            `#unit`,
            `#key0`,
            `#cell`
        ) AS `pairs`
        INNER JOIN `letalone_keys` AS `listed`
          ON (
            `listed`.`#key0` IS NOT DISTINCT FROM `pairs`.`#key0`
          )
      ) AS `#cells`
    ) AS `#pairs`
  ) AS `#pairs kept`
  WHERE
    (
      NOT (
        (
          `#cell` IS NULL
        )
      )
    )
  GROUP BY
    `#key0`,
    `#cell`
) AS `totals`
  ON (
    `keys`.`#key0` IS NOT DISTINCT FROM `totals`.`#key0`
  )
