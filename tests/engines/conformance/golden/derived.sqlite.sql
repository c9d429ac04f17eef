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
    ) AS `#1`
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
  WHERE
    (
      CASE WHEN (
        ABS(`#1`) < LETALONE_DOUBLE('Infinity')
      ) THEN `#1` END > LETALONE_DOUBLE('1.5')
    )
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
  LIMIT -1
), `letalone_query_4` AS (
  SELECT
    *,
    CASE
      WHEN (
        `#3` < (
          -3200.0
        )
      )
      THEN CASE
        WHEN (
          `#3` > LETALONE_DOUBLE('-Infinity')
        )
        THEN CAST((
          -60
        ) AS INTEGER)
      END
      WHEN (
        `#3` < 4480.0
      )
      THEN (
        CAST((
          CAST((
            `#3` * LETALONE_DOUBLE('0.015625')
          ) AS INTEGER) - (
            CAST((
              `#3` * LETALONE_DOUBLE('0.015625')
            ) AS INTEGER) > (
              `#3` * LETALONE_DOUBLE('0.015625')
            )
          )
        ) AS INTEGER) - 10
      )
      WHEN (
        ABS(`#3`) < LETALONE_DOUBLE('Infinity')
      )
      THEN CAST(60 AS INTEGER)
    END AS `#4`
  FROM `letalone_query_3` AS `#level3`
)
SELECT
  SUM(`#4`) AS `#sum0`,
  COUNT(`#4`) AS `#sum1`
FROM `letalone_query_4` AS `#rows`
