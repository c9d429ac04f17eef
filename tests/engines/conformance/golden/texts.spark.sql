SELECT
  `keys`.`number`,
  `totals`.`#sum0`,
  `totals`.`#sum1`
FROM `letalone_keys` AS `keys`
LEFT JOIN (
  SELECT
    `#key0`,
    SUM(
      CAST((
        CAST(`#sum0` AS DECIMAL(38, 0)) * (
          (
            `#row weight` * `#pair weight`
          ) DIV 1048576
        )
      ) AS DECIMAL(38, 0))
    ) AS `#sum0`,
    SUM(
      CAST((
        `#sum1` * (
          (
            `#row weight` * `#pair weight`
          ) DIV 1048576
        )
      ) AS DECIMAL(38, 0))
    ) AS `#sum1`
  FROM (
    SELECT
      *,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY `#unit`) <= 2
        )
        THEN 1048576
        ELSE (
          2097152 DIV COUNT(*) OVER (PARTITION BY `#unit`)
        )
      END AS `#pair weight`,
      CASE WHEN (
        `#rows` <= 1
      ) THEN 1048576 ELSE (
        1048576 DIV `#rows`
      ) END AS `#row weight`
    FROM (
      SELECT
        `pairs`.*
      FROM (
        SELECT
          `#unit`,
          `#key0`,
          SUM(`#8`) AS `#sum0`,
          COUNT(`#8`) AS `#sum1`,
          COUNT(*) AS `#rows`
        FROM (
          SELECT
            `#key0`,
            `#8`,
            `#unit`
          FROM (
            SELECT
              *,
              (
                `#1` + CAST(1 AS DOUBLE)
              ) AS `#2`,
              CASE
                WHEN (
                  `#7` < 0.0e0
                )
                THEN CAST((
                  -524288
                ) AS BIGINT)
                WHEN (
                  `#7` < 128.0e0
                )
                THEN (
                  CAST(FLOOR((
                    `#7` * 8192.0e0
                  )) AS BIGINT) - 524288
                )
                WHEN (
                  NOT (
                    (
                      `#7` IS NULL
                    )
                  )
                )
                THEN CAST(524288 AS BIGINT)
              END AS `#8`
            FROM (
              SELECT
                *,
                (
                  `cost` * CAST(2 AS DOUBLE)
                ) AS `#1`,
                TRIM(BOTH ' ' FROM `ward`) AS `#4`,
                CAST(`age` AS STRING) AS `#5`,
                TRANSLATE(SUBSTR(`ward`, 1, 1), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') AS `#key0`,
                CAST(CAST(LENGTH(`ward`) AS BIGINT) AS DOUBLE) AS `#7`
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
            WHERE
              (
                (
                  `ward` LIKE CAST(X'256125' AS STRING)
                )
                OR (
                  CASE
                    WHEN (
                      (
                        CAST(LENGTH(`#4`) AS BIGINT) + CAST(LENGTH(`#5`) AS BIGINT)
                      ) <= CAST(1000000 AS BIGINT)
                    )
                    THEN (
                      `#4` || `#5`
                    )
                  END = 'B65'
                )
              )
          ) AS `#level2`
        ) AS `#rows`
        GROUP BY
          `#unit`,
          `#key0`
      ) AS `pairs`
      INNER JOIN `letalone_keys` AS `listed`
        ON (
          `listed`.`#key0` IS NOT DISTINCT FROM `pairs`.`#key0`
        )
    ) AS `#pairs`
  ) AS `#pairs kept`
  GROUP BY
    `#key0`
) AS `totals`
  ON (
    `keys`.`#key0` IS NOT DISTINCT FROM `totals`.`#key0`
  )
