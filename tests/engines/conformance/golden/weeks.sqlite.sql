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
        TYPEOF(`#source`.`day`) = 'text'
      )
      THEN LETALONE_DATE(CAST(`#source`.`day` AS BLOB))
    END AS `day`,
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
    CAST(CAST((
      (
        CAST(STRFTIME('%j', SUBSTRING(`day`, 1, 10), '-3 days', 'weekday 4') AS INTEGER) + 6
      ) / 7
    ) AS INTEGER) AS REAL) AS `#4`
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
    ) AS `#2`,
    CASE
      WHEN (
        `#4` < 0.0
      )
      THEN CAST((
        -32
      ) AS INTEGER)
      WHEN (
        `#4` < 64.0
      )
      THEN (
        CAST((
          CAST((
            `#4` * 1.0
          ) AS INTEGER) - (
            CAST((
              `#4` * 1.0
            ) AS INTEGER) > (
              `#4` * 1.0
            )
          )
        ) AS INTEGER) - 32
      )
      WHEN (
        NOT (
          (
            `#4` IS NULL
          )
        )
      )
      THEN CAST(32 AS INTEGER)
    END AS `#5`
  FROM `letalone_query_1` AS `#level1`
  LIMIT -1
), `letalone_query_3` AS (
  SELECT
    *,
    (
      CAST(1 AS REAL) / CASE WHEN (
        ABS(`#2`) < LETALONE_DOUBLE('Infinity')
      ) THEN `#2` END
    ) AS `#3`
  FROM `letalone_query_2` AS `#level2`
)
SELECT
  SUM(`#5`) AS `#sum0`,
  COUNT(`#5`) AS `#sum1`
FROM `letalone_query_3` AS `#rows`
