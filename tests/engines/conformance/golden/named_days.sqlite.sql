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
    CAST(CASE
      WHEN (
        CAST(STRFTIME('%w', SUBSTRING(`day`, 1, 10)) AS INTEGER) = 0
      )
      THEN 7
      ELSE CAST(STRFTIME('%w', SUBSTRING(`day`, 1, 10)) AS INTEGER)
    END AS INTEGER) AS `#4`,
    CAST(CASE
      WHEN (
        CAST(SUBSTRING(`day`, 6, 2) AS INTEGER) <= 3
      )
      THEN 1
      WHEN (
        CAST(SUBSTRING(`day`, 6, 2) AS INTEGER) <= 6
      )
      THEN 2
      WHEN (
        CAST(SUBSTRING(`day`, 6, 2) AS INTEGER) <= 9
      )
      THEN 3
      WHEN (
        CAST(SUBSTRING(`day`, 6, 2) AS INTEGER) <= 12
      )
      THEN 4
    END AS INTEGER) AS `#5`
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
    (
      CASE
        WHEN (
          `#4` = 1
        )
        THEN 'Monday'
        WHEN (
          `#4` = 2
        )
        THEN 'Tuesday'
        WHEN (
          `#4` = 3
        )
        THEN 'Wednesday'
        WHEN (
          `#4` = 4
        )
        THEN 'Thursday'
        WHEN (
          `#4` = 5
        )
        THEN 'Friday'
        WHEN (
          `#4` = 6
        )
        THEN 'Saturday'
        WHEN (
          `#4` = 7
        )
        THEN 'Sunday'
      END || ' ' || LETALONE_SUBSTR(CAST((
        `#5` + 10000
      ) AS TEXT), 5)
    ) AS `#key0`
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
), `letalone_query_4` AS (
  SELECT
    `#key0`,
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
    `#key0`,
    SUM(`#weight`) AS `#sum0`
  FROM `letalone_query_4` AS `#weighed`
  GROUP BY
    `#key0`
)
SELECT
  `keys`.`number`,
  `totals`.`#sum0`
FROM `letalone_keys` AS `keys`
LEFT JOIN `letalone_query_5` AS `totals`
  ON (
    `keys`.`#key0` IS `totals`.`#key0`
  )
