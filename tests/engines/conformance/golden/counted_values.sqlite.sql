WITH `letalone_query_0` AS (
  SELECT
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
    CASE WHEN (
      `cost` IN (7.0, 0.0)
    ) THEN `cost` END AS `#cell`
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
    `#cell`,
    `#unit`
  FROM `letalone_query_2` AS `#level2`
  LIMIT -1
), `letalone_query_4` AS (
  SELECT
    `#cell`,
    CASE
      WHEN (
        COUNT(*) OVER (PARTITION BY `#unit`) <= 1
      )
      THEN 1048576
      ELSE (
        1048576 / COUNT(*) OVER (PARTITION BY `#unit`)
      )
    END AS `#weight`
  FROM `letalone_query_3` AS `#rows`
), `letalone_query_5` AS (
  SELECT
    `#cell`,
    SUM(`#weight`) AS `#sum0`
  FROM `letalone_query_4` AS `#weighed`
  WHERE
    (
      NOT (
        (
          `#cell` IS NULL
        )
      )
    )
  GROUP BY
    `#cell`
)
SELECT
  CASE
    WHEN (
      `totals`.`#cell` IN (7.0)
    )
    THEN 0
    WHEN (
      `totals`.`#cell` IN (0.0)
    )
    THEN 1
  END,
  `totals`.`#sum0`
FROM `letalone_query_5` AS `totals`
