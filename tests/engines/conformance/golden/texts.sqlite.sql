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
        CASE
          WHEN (
            TYPEOF(`#source`.`age`) = 'integer'
          )
          THEN `#source`.`age`
          WHEN (
            TYPEOF(`#source`.`age`) = 'real'
          )
          THEN LETALONE_ROUNDED(`#source`.`age`)
          WHEN (
            TYPEOF(`#source`.`age`) = 'text'
          )
          THEN LETALONE_INTEGER(CAST(`#source`.`age` AS BLOB))
        END < 0
      )
      THEN 0
      WHEN (
        CASE
          WHEN (
            TYPEOF(`#source`.`age`) = 'integer'
          )
          THEN `#source`.`age`
          WHEN (
            TYPEOF(`#source`.`age`) = 'real'
          )
          THEN LETALONE_ROUNDED(`#source`.`age`)
          WHEN (
            TYPEOF(`#source`.`age`) = 'text'
          )
          THEN LETALONE_INTEGER(CAST(`#source`.`age` AS BLOB))
        END > 100
      )
      THEN 100
      ELSE CASE
        WHEN (
          TYPEOF(`#source`.`age`) = 'integer'
        )
        THEN `#source`.`age`
        WHEN (
          TYPEOF(`#source`.`age`) = 'real'
        )
        THEN LETALONE_ROUNDED(`#source`.`age`)
        WHEN (
          TYPEOF(`#source`.`age`) = 'text'
        )
        THEN LETALONE_INTEGER(CAST(`#source`.`age` AS BLOB))
      END
    END AS `age`,
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
    LETALONE_TRIM(`ward`, 'BOTH') AS `#4`,
    CAST(`age` AS TEXT) AS `#5`,
    LETALONE_TRANSLATE(
      LETALONE_SUBSTR(`ward`, 1, 1),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    ) AS `#key0`,
    CAST(CAST(LETALONE_LENGTH(`ward`) AS INTEGER) AS REAL) AS `#7`
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
        `#7` < 0.0
      )
      THEN CAST((
        -524288
      ) AS INTEGER)
      WHEN (
        `#7` < 128.0
      )
      THEN (
        CAST((
          CAST((
            `#7` * 8192.0
          ) AS INTEGER) - (
            CAST((
              `#7` * 8192.0
            ) AS INTEGER) > (
              `#7` * 8192.0
            )
          )
        ) AS INTEGER) - 524288
      )
      WHEN (
        NOT (
          (
            `#7` IS NULL
          )
        )
      )
      THEN CAST(524288 AS INTEGER)
    END AS `#8`
  FROM `letalone_query_1` AS `#level1`
  WHERE
    (
      LETALONE_LIKE(`ward`, '%a%')
      OR (
        CASE
          WHEN (
            (
              CAST(LETALONE_LENGTH(`#4`) AS INTEGER) + CAST(LETALONE_LENGTH(`#5`) AS INTEGER)
            ) <= CAST(1000000 AS INTEGER)
          )
          THEN (
            `#4` || `#5`
          )
        END = 'B65'
      )
    )
  LIMIT -1
), `letalone_query_3` AS (
  SELECT
    `#key0`,
    `#8`,
    `#unit`
  FROM `letalone_query_2` AS `#level2`
  LIMIT -1
), `letalone_query_4` AS (
  SELECT
    `#unit`,
    `#key0`,
    SUM(`#8`) AS `#sum0`,
    COUNT(`#8`) AS `#sum1`,
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
        COUNT(*) OVER (PARTITION BY `#unit`) <= 2
      )
      THEN 1048576
      ELSE (
        2097152 / COUNT(*) OVER (PARTITION BY `#unit`)
      )
    END AS `#pair weight`,
    CASE WHEN (
      `#rows` <= 1
    ) THEN 1048576 ELSE (
      1048576 / `#rows`
    ) END AS `#row weight`
  FROM `letalone_query_5` AS `#pairs`
), `letalone_query_7` AS (
  SELECT
    `#key0`,
    LETALONE_SUM(
      (
        LETALONE_TIMES((
          `#sum0`
        ), (
          (
            `#row weight` * `#pair weight`
          ) / 1048576
        ))
      )
    ) AS `#sum0`,
    LETALONE_SUM((
      `#sum1` * (
        (
          `#row weight` * `#pair weight`
        ) / 1048576
      )
    )) AS `#sum1`
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
