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
    `#below0`.*,
    CASE
      WHEN (
        TYPEOF(`#public0`.`beds`) = 'integer'
      )
      THEN `#public0`.`beds`
      WHEN (
        TYPEOF(`#public0`.`beds`) = 'real'
      )
      THEN LETALONE_ROUNDED(`#public0`.`beds`)
      WHEN (
        TYPEOF(`#public0`.`beds`) = 'text'
      )
      THEN LETALONE_INTEGER(CAST(`#public0`.`beds` AS BLOB))
    END AS `beds`
  FROM `letalone_query_0` AS `#below0`
  LEFT JOIN `wards` AS `#public0`
    ON (
      `#below0`.`ward` = CASE
        WHEN (
          TYPEOF(`#public0`.`name`) IN ('integer', 'real')
        )
        THEN CASE
          WHEN (
            TYPEOF(`#public0`.`name`) = 'real'
          )
          THEN LETALONE_SPELLED(`#public0`.`name`)
          ELSE CAST(`#public0`.`name` AS TEXT)
        END
        WHEN (
          (
            TYPEOF(`#public0`.`name`) = 'text'
          )
          AND (
            NOT (
              `#public0`.`name` GLOB '*[^ -~]*'
            )
          )
          AND (
            LENGTH(`#public0`.`name`) = LENGTH(CAST(`#public0`.`name` AS BLOB))
          )
        )
        THEN `#public0`.`name`
        WHEN (
          TYPEOF(`#public0`.`name`) = 'text'
        )
        THEN LETALONE_TEXT(CAST(`#public0`.`name` AS BLOB))
      END
    )
), `letalone_query_2` AS (
  SELECT
    *,
    (
      `cost` * CAST(2 AS REAL)
    ) AS `#1`,
    `ward` AS `#key0`,
    CAST(`beds` AS REAL) AS `#5`
  FROM `letalone_query_1` AS `#level0`
  WHERE
    (
      NOT (
        (
          `#unit` IS NULL
        )
      )
    )
  LIMIT -1
), `letalone_query_3` AS (
  SELECT
    *,
    (
      `#1` + CAST(1 AS REAL)
    ) AS `#2`,
    CASE
      WHEN (
        `#5` < 0.0
      )
      THEN CAST((
        -50
      ) AS INTEGER)
      WHEN (
        `#5` < 100.0
      )
      THEN (
        CAST((
          CAST((
            `#5` * 1.0
          ) AS INTEGER) - (
            CAST((
              `#5` * 1.0
            ) AS INTEGER) > (
              `#5` * 1.0
            )
          )
        ) AS INTEGER) - 50
      )
      WHEN (
        NOT (
          (
            `#5` IS NULL
          )
        )
      )
      THEN CAST(50 AS INTEGER)
    END AS `#6`
  FROM `letalone_query_2` AS `#level1`
  LIMIT -1
), `letalone_query_4` AS (
  SELECT
    *,
    (
      CAST(1 AS REAL) / CASE WHEN (
        ABS(`#2`) < LETALONE_DOUBLE('Infinity')
      ) THEN `#2` END
    ) AS `#3`
  FROM `letalone_query_3` AS `#level2`
), `letalone_query_5` AS (
  SELECT
    `#key0`,
    `#6`,
    CASE
      WHEN (
        COUNT(*) OVER (PARTITION BY `#unit`) <= 2
      )
      THEN 1048576
      ELSE (
        2097152 / COUNT(*) OVER (PARTITION BY `#unit`)
      )
    END AS `#weight`
  FROM `letalone_query_4` AS `#rows`
), `letalone_query_6` AS (
  SELECT
    `#key0`,
    SUM(`#weight`) AS `#sum0`,
    LETALONE_WORDS(
      SUM((
        (
          (
            `#6` * `#weight`
          ) >> 0
        ) & 16777215
      )),
      SUM((
        (
          `#6` * `#weight`
        ) >> 24
      ))
    ) AS `#sum1`,
    SUM(CASE WHEN (
      `#6` IS NULL
    ) THEN `#weight` END) AS `#sum2`
  FROM `letalone_query_5` AS `#weighed`
  GROUP BY
    `#key0`
)
SELECT
  `keys`.`number`,
  `totals`.`#sum0`,
  `totals`.`#sum1`,
  `totals`.`#sum2`
FROM `letalone_keys` AS `keys`
LEFT JOIN `letalone_query_6` AS `totals`
  ON (
    `keys`.`#key0` IS `totals`.`#key0`
  )
