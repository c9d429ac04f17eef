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
    LETALONE_TRANSLATE(`ward`, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') AS `#5`
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
    CASE WHEN (
      `#5` IN ('A', 'x''y')
    ) THEN `#5` END AS `#cell`
  FROM `letalone_query_1` AS `#level1`
  LIMIT -1
), `letalone_query_3` AS (
  SELECT
    `#key0`,
    `#cell`,
    `#unit`
  FROM `letalone_query_2` AS `#level2`
  LIMIT -1
), `letalone_query_4` AS (
  SELECT
    `#unit`,
    `#key0`,
    `#cell`,
    COUNT(*) AS `#sum0`,
    COUNT(*) AS `#rows`
  FROM `letalone_query_3` AS `#rows`
  GROUP BY
    `#unit`,
    `#key0`,
    `#cell`
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
    ROW_NUMBER() OVER (PARTITION BY `#unit`, `#key0` ORDER BY `#cell` NULLS LAST) AS `#first`,
    CAST(SUM(`#rows`) OVER (PARTITION BY `#unit`, `#key0`) AS INTEGER) AS `#rows in all`
  FROM `letalone_query_5` AS `#cells`
), `letalone_query_7` AS (
  SELECT
    *,
    CASE
      WHEN (
        COUNT(CASE WHEN (
          `#first` = 1
        ) THEN 1 END) OVER (PARTITION BY `#unit`) <= 2
      )
      THEN 1048576
      ELSE (
        2097152 / COUNT(CASE WHEN (
          `#first` = 1
        ) THEN 1 END) OVER (PARTITION BY `#unit`)
      )
    END AS `#pair weight`,
    CASE
      WHEN (
        `#rows in all` <= 2
      )
      THEN 1048576
      ELSE (
        2097152 / `#rows in all`
      )
    END AS `#row weight`
  FROM `letalone_query_6` AS `#pairs`
), `letalone_query_8` AS (
  SELECT
    `#key0`,
    `#cell`,
    LETALONE_SUM((
      `#sum0` * (
        (
          `#row weight` * `#pair weight`
        ) / 1048576
      )
    )) AS `#sum0`
  FROM `letalone_query_7` AS `#pairs kept`
  WHERE
    (
      NOT (
        (
          `#cell` IS NULL
        )
      )
    )
  GROUP BY
    `#key0`,
    `#cell`
)
SELECT
  `keys`.`number`,
  CASE
    WHEN (
      `totals`.`#cell` IN ('A')
    )
    THEN 0
    WHEN (
      `totals`.`#cell` IN ('x''y')
    )
    THEN 1
  END,
  `totals`.`#sum0`
FROM `letalone_keys` AS `keys`
JOIN `letalone_query_8` AS `totals`
  ON (
    `keys`.`#key0` IS `totals`.`#key0`
  )
