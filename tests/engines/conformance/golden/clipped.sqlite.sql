WITH `letalone_query_0` AS (
  SELECT
    CASE
      WHEN (
        TYPEOF(`#source`.`ward`) IN ('integer', 'real')
      )
      THEN CASE
        WHEN (
          TYPEOF(`#source`.`ward`) = 'real'
        )
        THEN LETALONE_SPELLED(`#source`.`ward`)
        ELSE CAST(`#source`.`ward` AS TEXT)
      END
      WHEN (
        (
          TYPEOF(`#source`.`ward`) = 'text'
        )
        AND (
          NOT (
            `#source`.`ward` GLOB '*[^ -~]*'
          )
        )
        AND (
          LENGTH(`#source`.`ward`) = LENGTH(CAST(`#source`.`ward` AS BLOB))
        )
      )
      THEN `#source`.`ward`
      WHEN (
        TYPEOF(`#source`.`ward`) = 'text'
      )
      THEN LETALONE_TEXT(CAST(`#source`.`ward` AS BLOB))
    END AS `ward`,
    CASE
      WHEN (
        TYPEOF(`#source`.`cost`) = 'integer'
      )
      THEN CAST(`#source`.`cost` AS REAL)
      WHEN (
        (
          TYPEOF(`#source`.`cost`) = 'real'
        )
        AND (
          ABS(`#source`.`cost`) < LETALONE_DOUBLE('Infinity')
        )
      )
      THEN `#source`.`cost`
      WHEN (
        TYPEOF(`#source`.`cost`) = 'text'
      )
      THEN LETALONE_NUMBER(CAST(`#source`.`cost` AS BLOB))
    END AS `cost`,
    CASE
      WHEN (
        TYPEOF(`#source`.`patient`) = 'integer'
      )
      THEN `#source`.`patient`
      WHEN (
        (
          TYPEOF(`#source`.`patient`) = 'real'
        )
        AND (
          CAST(`#source`.`patient` AS INTEGER) = `#source`.`patient`
        )
      )
      THEN CAST(`#source`.`patient` AS INTEGER)
      WHEN (
        (
          TYPEOF(`#source`.`patient`) = 'real'
        )
        AND (
          ABS(`#source`.`patient`) < LETALONE_DOUBLE('Infinity')
        )
      )
      THEN `#source`.`patient`
      WHEN (
        (
          TYPEOF(`#source`.`patient`) = 'text'
        )
        AND (
          NOT (
            `#source`.`patient` GLOB '*[^ -~]*'
          )
        )
        AND (
          LENGTH(`#source`.`patient`) = LENGTH(CAST(`#source`.`patient` AS BLOB))
        )
      )
      THEN `#source`.`patient`
      WHEN (
        TYPEOF(`#source`.`patient`) = 'text'
      )
      THEN LETALONE_TEXT(CAST(`#source`.`patient` AS BLOB))
    END AS `#unit`
  FROM `visits` AS `#source`
  LIMIT -1
), `letalone_query_1` AS (
  SELECT
    *,
    (
      `cost` * CAST(2 AS REAL)
    ) AS `#1`,
    `ward` AS `#key0`,
    (
      CASE
        WHEN (
          `cost` < 0.0
        )
        THEN CAST((
          -512000
        ) AS INTEGER)
        WHEN (
          `cost` < 1000.0
        )
        THEN (
          CAST((
            CAST((
              `cost` * 1024.0
            ) AS INTEGER) - (
              CAST((
                `cost` * 1024.0
              ) AS INTEGER) > (
                `cost` * 1024.0
              )
            )
          ) AS INTEGER) - 512000
        )
        WHEN (
          NOT (
            (
              `cost` IS NULL
            )
          )
        )
        THEN CAST(512000 AS INTEGER)
      END + 512000
    ) AS `#5`
  FROM `letalone_query_0` AS `#level0`
  WHERE
    (
      NOT (
        (
          `#unit` IS NULL
        )
      )
    )
  LIMIT -1
), `letalone_query_2` AS (
  SELECT
    *,
    (
      `#1` + CAST(1 AS REAL)
    ) AS `#2`
  FROM `letalone_query_1` AS `#level1`
  LIMIT -1
), `letalone_query_3` AS (
  SELECT
    `#key0`,
    `#5`,
    `#unit`
  FROM `letalone_query_2` AS `#level2`
  LIMIT -1
), `letalone_query_4` AS (
  SELECT
    `#unit`,
    `#key0`,
    COUNT(*) AS `#sum0`,
    SUM(`#5`) AS `#sum1`,
    COUNT(*) AS `#rows`
  FROM `letalone_query_3` AS `#rows`
  GROUP BY
    `#unit`,
    `#key0`
), `letalone_query_5` AS (
  SELECT
    `pairs`.*
  FROM `letalone_query_4` AS `pairs`
  INNER JOIN `letalone_keys` AS `listed`
    ON (
      `listed`.`#key0` IS `pairs`.`#key0`
    )
), `letalone_query_6` AS (
  SELECT
    *,
    CASE
      WHEN (
        COUNT(*) OVER (PARTITION BY `#unit`) <= 1
      )
      THEN 1048576
      ELSE (
        1048576 / COUNT(*) OVER (PARTITION BY `#unit`)
      )
    END AS `#pair weight`
  FROM `letalone_query_5` AS `#pairs`
), `letalone_query_7` AS (
  SELECT
    `#key0`,
    LETALONE_SUM(`#pair weight`) AS `#sum0`,
    LETALONE_SUM(
      (
        LETALONE_TIMES(
          (
            (
              CAST(CASE
                WHEN (
                  LETALONE_LONG(`#sum1`) < 0
                )
                THEN 0
                WHEN (
                  LETALONE_LONG(`#sum1`) > 1024000
                )
                THEN 1024000
                ELSE LETALONE_LONG(`#sum1`)
              END AS INTEGER) - 0
            )
          ),
          `#pair weight`
        )
      )
    ) AS `#sum1`
  FROM `letalone_query_6` AS `#pairs kept`
  GROUP BY
    `#key0`
)
SELECT
  `keys`.`number`,
  `totals`.`#sum0`,
  `totals`.`#sum1`
FROM `letalone_keys` AS `keys`
LEFT JOIN `letalone_query_7` AS `totals`
  ON (
    `keys`.`#key0` IS `totals`.`#key0`
  )
