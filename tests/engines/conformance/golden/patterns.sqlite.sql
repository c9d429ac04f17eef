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
        TYPEOF(`#source`.`day`) = 'text'
      )
      THEN LETALONE_DATE(CAST(`#source`.`day` AS BLOB))
    END AS `day`,
    CASE
      WHEN (
        TYPEOF(`#source`.`at`) = 'text'
      )
      THEN LETALONE_TIMESTAMP(CAST(`#source`.`at` AS BLOB))
    END AS `at`,
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
    CAST((
      JULIANDAY(`day`) - JULIANDAY(LETALONE_START('day', `at`))
    ) AS REAL) AS `#4`
  FROM `letalone_query_0` AS `#level0`
  WHERE
    (
      (
        NOT (
          (
            `#unit` IS NULL
          )
        )
      )
      AND (
        LETALONE_LIKE(`ward`, 'x%''\_%_%y') OR LETALONE_LIKE(`ward`, '%a%''%b_+%')
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
        `#4` < (
          -LETALONE_DOUBLE('0.78125')
        )
      )
      THEN CAST((
        -60
      ) AS INTEGER)
      WHEN (
        `#4` < LETALONE_DOUBLE('1.09375')
      )
      THEN (
        CAST((
          CAST((
            `#4` * 64.0
          ) AS INTEGER) - (
            CAST((
              `#4` * 64.0
            ) AS INTEGER) > (
              `#4` * 64.0
            )
          )
        ) AS INTEGER) - 10
      )
      WHEN (
        NOT (
          (
            `#4` IS NULL
          )
        )
      )
      THEN CAST(60 AS INTEGER)
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
