SELECT
  `keys`.`number`,
  `totals`.`#sum0`,
  `totals`.`#sum1`,
  `totals`.`#sum2`
FROM `letalone_keys` AS `keys`
LEFT JOIN (
  SELECT
    `#key0`,
    SUM(`#weight`) AS `#sum0`,
    (
      CAST(SUM((
        (
          `#6` * `#weight`
        ) & CAST(16777215 AS BIGINT)
      )) AS DECIMAL(20, 0)) + (
        CAST(SUM(SHIFTRIGHT((
          `#6` * `#weight`
        ), 24)) AS DECIMAL(20, 0)) * CAST('16777216' AS DECIMAL(15, 0))
      )
    ) AS `#sum1`,
    SUM(CASE WHEN (
      `#6` IS NULL
    ) THEN `#weight` END) AS `#sum2`
  FROM (
    SELECT
      `#key0`,
      `#6`,
      CASE
        WHEN (
          COUNT(*) OVER (PARTITION BY `#unit`) <= 2
        )
        THEN 1048576
        ELSE (
          2097152 DIV COUNT(*) OVER (PARTITION BY `#unit`)
        )
      END AS `#weight`
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
              `#5` < 0.0e0
            )
            THEN CAST((
              -50
            ) AS BIGINT)
            WHEN (
              `#5` < 100.0e0
            )
            THEN (
              CAST(FLOOR((
                `#5` * 1.0e0
              )) AS BIGINT) - 50
            )
            WHEN (
              NOT (
                (
                  `#5` IS NULL
                )
              )
            )
            THEN CAST(50 AS BIGINT)
          END AS `#6`
        FROM (
          SELECT
            *,
            (
              `cost` * CAST(2 AS DOUBLE)
            ) AS `#1`,
            `ward` AS `#key0`,
            CAST(`beds` AS DOUBLE) AS `#5`
          FROM (
            SELECT
              `#below0`.*,
              `#public0`.`beds` AS `beds`
            FROM (
              SELECT
                TRY_VALIDATE_UTF8(`#source`.`ward`) AS `ward`,
                `#source`.`cost` AS `cost`,
                `#source`.`patient` AS `#unit`
              FROM `visits` AS `#source`
            ) AS `#below0`
            LEFT JOIN `wards` AS `#public0`
              ON (
                `#below0`.`ward` = TRY_VALIDATE_UTF8(`#public0`.`name`)
              )
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
  ) AS `#weighed`
  GROUP BY
    `#key0`
) AS `totals`
  ON (
    `keys`.`#key0` IS NOT DISTINCT FROM `totals`.`#key0`
  )
