-- Everyday aggregate questions, as strangers write them. Each begins with a line
--   --# table | dialect | where such a question is met
-- and may say what a person would answer when asked for bounds or keys (--bounds, --keys), and what
-- plain DuckDB is asked for the truth where it cannot be asked the same (--truth).

--# visits | duckdb | newcomer 1
SELECT COUNT(*) FROM visits;
--# visits | duckdb | newcomer 2
SELECT ward, COUNT(*) FROM visits GROUP BY ward;
--# visits | duckdb | newcomer 3
SELECT COUNT(DISTINCT patient_id) FROM visits WHERE ward = 'Oncology';
--# visits | duckdb | newcomer 4
--bounds tip=0:100
SELECT AVG(tip) FROM visits;
--# visits | duckdb | newcomer 5
SELECT ward, AVG(bill), COUNT(*) FROM visits GROUP BY ward;
--# visits | duckdb | newcomer 6
--bounds tip=0:100
SELECT ward, MEDIAN(tip) FROM visits GROUP BY ward;
--# visits | duckdb | newcomer 7
SELECT MIN(bill), MAX(bill) FROM visits;
--# visits | duckdb | newcomer 8
SELECT date_trunc('month', visit_date) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month;
--# visits | duckdb | newcomer 9
SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 10;
--# visits | duckdb | newcomer 10
SELECT 100.0 * SUM(CASE WHEN readmitted = 1 THEN 1 ELSE 0 END) / COUNT(*) AS pct FROM visits WHERE ward = 'Cardiology';
--# visits | duckdb | newcomer 11
SELECT sex, ward, COUNT(*) FROM visits GROUP BY sex, ward;
--# visits | duckdb | newcomer 12
SELECT building, COUNT(*) FROM visits JOIN wards USING (ward_id) GROUP BY building;
--# visits | duckdb | newcomer 13
SELECT ward, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward;
--# visits | duckdb | newcomer 14
WITH y AS (SELECT YEAR(visit_date) AS yr, COUNT(*) AS n FROM visits GROUP BY 1)
SELECT yr, n, n - LAG(n) OVER (ORDER BY yr) AS change FROM y;
--# visits | duckdb | newcomer 15
--truth SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 500 AS INT) || CASE WHEN lo = 5000 THEN ']' ELSE ')' END, n FROM (SELECT floor(bill / 500) * 500 AS lo, COUNT(*) AS n FROM visits GROUP BY 1)
SELECT floor(bill / 500) * 500 AS bucket, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1;
--# visits | duckdb | newcomer 16
SELECT COUNT(*) FROM visits WHERE diagnosis LIKE 'I2%';
--# visits | duckdb | newcomer 17
--bounds n=0:20
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t;
--# visits | duckdb | newcomer 18
SELECT quantile_cont(bill, [0.25, 0.5, 0.75]), stddev(bill) FROM visits;
--# employees | duckdb | newcomer 19
--bounds hours=0:80
SELECT education, COUNT(*) AS n, AVG(hours) AS hours FROM employees GROUP BY education ORDER BY n DESC;

--# visits | duckdb | textbook
SELECT AVG(age) AS mean_age FROM visits WHERE sex = 'f';
--# visits | duckdb | textbook
SELECT sex, AVG(age), MIN(age), MAX(age) FROM visits GROUP BY sex;
--# visits | duckdb | textbook
SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1;
--# visits | duckdb | textbook
SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 1000;
--# visits | duckdb | textbook
SELECT COUNT(*) FROM visits WHERE age BETWEEN 18 AND 65 AND sex = 'm';
--# visits | duckdb | textbook
SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits);
--# visits | duckdb | textbook
SELECT w.name, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward_id = w.ward_id GROUP BY w.name ORDER BY n DESC;
--# visits | duckdb | textbook
SELECT w.name, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward_id = w.ward_id GROUP BY v.ward_id, w.name;
--# visits | postgres | textbook
--truth SELECT w.name, COUNT(*) FROM visits v JOIN wards w ON v.ward_id = w.ward_id GROUP BY w.name
SELECT w.name, COUNT(*) FROM visits v JOIN wards w ON v.ward_id = w.ward_id GROUP BY w.ward_id;
--# visits | duckdb | textbook
SELECT w.name, w.beds, COUNT(*) AS n, COUNT(*) / w.beds AS per_bed FROM visits v JOIN wards w ON w.ward_id = v.ward_id GROUP BY w.name, w.beds;
--# visits | duckdb | textbook
SELECT COUNT(*) FROM visits WHERE ward_id IN (SELECT ward_id FROM wards WHERE building = 'North');
--# visits | duckdb | textbook
SELECT AVG(bill) FROM visits WHERE ward_id NOT IN (SELECT ward_id FROM wards WHERE beds < 30);
--# visits | duckdb | textbook
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM wards w WHERE w.ward_id = visits.ward_id AND w.building = 'North');
--# visits | duckdb | textbook
SELECT w.building, AVG(v.bill) AS mean_bill FROM visits AS v INNER JOIN wards AS w ON v.ward_id = w.ward_id WHERE v.age >= 65 GROUP BY w.building;
--# visits | duckdb | textbook
SELECT w.name, c.region, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward_id = w.ward_id JOIN cities c ON v.city = c.city GROUP BY w.name, c.region;
--# visits | duckdb | textbook
SELECT w.name, i.name AS insurer_name, SUM(v.bill) AS total FROM visits v JOIN wards w ON v.ward_id = w.ward_id JOIN insurers i ON v.insurer = i.insurer GROUP BY w.name, i.name;
--# visits | duckdb | textbook
SELECT COUNT(*) FROM visits v LEFT JOIN wards w ON v.ward_id = w.ward_id;
--# visits | duckdb | textbook
SELECT w.building, COUNT(*) FROM visits v LEFT JOIN wards w ON v.ward_id = w.ward_id GROUP BY w.building;
--# visits | duckdb | textbook
SELECT AVG(w.beds) FROM visits v JOIN wards w ON v.ward_id = w.ward_id;
--# visits | duckdb | textbook
SELECT SUM(v.bill) FROM visits v, wards w WHERE v.ward_id = w.ward_id AND w.building = 'South';
--# visits | duckdb | textbook
SELECT DISTINCT ward FROM visits ORDER BY ward;
--# visits | duckdb | textbook
SELECT COUNT(DISTINCT diagnosis) FROM visits;
--# visits | duckdb | textbook
SELECT COUNT(DISTINCT patient_id) AS patients, COUNT(*) AS visits, COUNT(*) * 1.0 / COUNT(DISTINCT patient_id) AS per_patient FROM visits;
--# visits | duckdb | textbook
SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, sex);
--# visits | duckdb | textbook
SELECT ward, COUNT(*) FROM visits GROUP BY CUBE (ward);
--# visits | duckdb | textbook
SELECT ward, sex, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), (sex));
--# visits | duckdb | textbook
SELECT 'women' AS who, COUNT(*) AS n FROM visits WHERE sex = 'f' UNION ALL SELECT 'men', COUNT(*) FROM visits WHERE sex = 'm';
--# visits | duckdb | textbook
SELECT (SELECT COUNT(*) FROM visits WHERE smoker) * 100.0 / (SELECT COUNT(*) FROM visits) AS pct_smokers;
--# visits | duckdb | textbook
SELECT ward, AVG(bill) AS avg_bill FROM visits GROUP BY ward HAVING AVG(bill) > (SELECT AVG(bill) FROM visits);
--# visits | duckdb | textbook
SELECT MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t;
--# employees | duckdb | textbook
SELECT d.name, AVG(e.salary) FROM employees e JOIN departments d ON e.dept_id = d.dept_id GROUP BY d.name;
--# employees | duckdb | textbook
SELECT job, COUNT(*) FROM employees GROUP BY job HAVING COUNT(*) >= 100 ORDER BY COUNT(*) DESC;
--# employees | duckdb | textbook
SELECT COUNT(*) FROM employees WHERE salary > 50000 AND job <> 'clerk';
--# employees | duckdb | textbook
SELECT COUNT(*) FROM employees WHERE job NOT IN ('clerk', 'manager');
--# employees | duckdb | textbook
SELECT AVG(salary) FROM employees WHERE hire_date < '2015-01-01';
--# employees | duckdb | textbook
SELECT dept_id, MAX(salary) - MIN(salary) AS spread FROM employees GROUP BY dept_id;
--# employees | duckdb | textbook
SELECT COUNT(*) FROM employees WHERE bonus IS NULL;
--# employees | duckdb | textbook
SELECT SUM(salary + COALESCE(bonus, 0)) AS payroll FROM employees;
--# employees | duckdb | textbook
SELECT COUNT(*) FROM employees WHERE NOT (gender = 'f' OR age < 30);
--# employees | duckdb | textbook
SELECT COUNT(bonus), COUNT(*) - COUNT(bonus) AS missing FROM employees;
--# employees | duckdb | textbook
SELECT COUNT(*) FROM employees WHERE salary > (SELECT AVG(salary) FROM employees WHERE job = 'manager');
--# employees | duckdb | textbook
SELECT AVG(salary) - (SELECT AVG(salary) FROM employees) AS difference FROM employees WHERE gender = 'f';
--# employees | duckdb | textbook
SELECT dept_id, COUNT(*) AS n FROM employees WHERE education IN ('Master', 'PhD') GROUP BY dept_id ORDER BY n DESC, dept_id LIMIT 3;
--# orders | duckdb | textbook
SELECT p.category, SUM(o.quantity * o.unit_price) AS revenue FROM orders o JOIN products p ON o.product_id = p.product_id GROUP BY p.category ORDER BY revenue DESC;
--# orders | duckdb | textbook
SELECT SUM(o.quantity * p.price) FROM orders o JOIN products p USING (product_id);
--# orders | duckdb | textbook
SELECT country, COUNT(DISTINCT customer_id) AS customers FROM orders GROUP BY country ORDER BY customers DESC;
--# orders | duckdb | textbook
SELECT c.name, COUNT(*) AS n FROM orders o JOIN countries c ON o.country = c.country GROUP BY c.name ORDER BY n DESC LIMIT 5;
--# orders | duckdb | textbook
SELECT c.region, p.category, SUM(o.amount) FROM orders o JOIN products p ON p.product_id = o.product_id JOIN countries c ON c.country = o.country GROUP BY 1, 2;
--# orders | duckdb | textbook
SELECT p.name, SUM(o.quantity) AS sold FROM orders o JOIN products p ON o.product_id = p.product_id GROUP BY p.product_id, p.name ORDER BY sold DESC LIMIT 5;
--# orders | duckdb | textbook
SELECT status, COUNT(*) AS n, ROUND(COUNT(*) * 100.0 / (SELECT COUNT(*) FROM orders), 2) AS pct FROM orders GROUP BY status;
--# orders | duckdb | textbook
SELECT COUNT(*) FROM orders WHERE order_date >= '2024-01-01' AND order_date < '2024-04-01';
--# orders | duckdb | textbook
--bounds total=0:20000
SELECT AVG(total) FROM (SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id);
--# orders | duckdb | textbook
SELECT COUNT(*) FROM (SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) >= 5) AS loyal;
--# orders | duckdb | textbook
SELECT COUNT(DISTINCT customer_id) FROM orders WHERE customer_id IN (SELECT customer_id FROM orders GROUP BY customer_id HAVING SUM(amount) > 1000);

--# orders | postgres | dashboard
SELECT DATE_TRUNC('month', created_at) AS month, SUM(amount) AS revenue FROM orders WHERE status = 'paid' GROUP BY 1 ORDER BY 1;
--# orders | postgres | dashboard
SELECT date_trunc('week', created_at) AS week, COUNT(*) AS orders FROM orders GROUP BY 1 ORDER BY 1 DESC LIMIT 12;
--# orders | postgres | dashboard
SELECT created_at::date AS day, COUNT(*) FROM orders WHERE created_at >= '2024-11-01' GROUP BY 1 ORDER BY 1;
--# orders | postgres | dashboard
SELECT CAST(created_at AS date) AS day, COUNT(DISTINCT customer_id) AS buyers FROM orders WHERE created_at >= timestamp '2024-12-01 00:00:00' GROUP BY CAST(created_at AS date) ORDER BY 1;
--# orders | postgres | dashboard
SELECT EXTRACT(dow FROM created_at) AS weekday, COUNT(*) FROM orders GROUP BY 1 ORDER BY 1;
--# orders | postgres | dashboard
SELECT EXTRACT(HOUR FROM created_at) AS hour, COUNT(*) AS n FROM orders GROUP BY EXTRACT(HOUR FROM created_at) ORDER BY hour;
--# orders | postgres | dashboard
SELECT to_char(order_date, 'YYYY-MM') AS month, SUM(amount) AS revenue, COUNT(*) AS orders, SUM(amount) / COUNT(*) AS aov FROM orders GROUP BY 1 ORDER BY 1;
--# orders | postgres | dashboard
SELECT to_char(order_date, 'Day') AS weekday, COUNT(*) FROM orders GROUP BY 1;
--# orders | postgres | dashboard
SELECT SUM(CASE WHEN status = 'refunded' THEN 1 ELSE 0 END)::float / COUNT(*) AS refund_rate FROM orders;
--# orders | postgres | dashboard
SELECT channel, COUNT(*) FILTER (WHERE is_returned) AS returned, COUNT(*) AS total, ROUND(100.0 * COUNT(*) FILTER (WHERE is_returned) / NULLIF(COUNT(*), 0), 1) AS pct FROM orders GROUP BY channel;
--# orders | postgres | dashboard
SELECT COUNT(DISTINCT customer_id) FILTER (WHERE status = 'paid') AS paying FROM orders;
--# orders | postgres | dashboard
SELECT COUNT(DISTINCT CASE WHEN status = 'paid' THEN customer_id END) AS paying_customers, COUNT(DISTINCT customer_id) AS customers FROM orders;
--# orders | postgres | dashboard
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS median_order FROM orders;
--# orders | postgres | dashboard
SELECT percentile_cont(array[0.25, 0.5, 0.75, 0.95]) WITHIN GROUP (ORDER BY amount) FROM orders;
--# orders | postgres | dashboard
SELECT status, COUNT(*) FROM orders WHERE created_at > NOW() - INTERVAL '30 days' GROUP BY status;
--# orders | postgres | dashboard
SELECT COUNT(*) FROM orders WHERE order_date >= DATE '2024-12-31' - INTERVAL '30 days';
--# orders | postgres | dashboard
--bounds days=0:30
SELECT AVG(shipped_date - order_date) AS days_to_ship FROM orders WHERE shipped_date IS NOT NULL;
--# orders | postgres | dashboard
SELECT COUNT(*) FROM orders WHERE shipped_date - order_date > 7;
--# orders | postgres | dashboard
SELECT AVG(EXTRACT(EPOCH FROM (shipped_at - created_at)) / 3600) AS hours FROM orders;
--# orders | postgres | dashboard
SELECT CASE WHEN amount < 50 THEN 'small' WHEN amount < 200 THEN 'medium' ELSE 'large' END AS size, COUNT(*) AS n, SUM(amount) AS revenue FROM orders GROUP BY 1 ORDER BY 3 DESC;
--# orders | postgres | dashboard
SELECT DATE_TRUNC('month', order_date) AS month, channel, COUNT(*) AS n FROM orders GROUP BY 1, 2 ORDER BY 1, 2;
--# orders | postgres | dashboard
SELECT DATE_TRUNC('month', order_date) AS month, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', order_date)) AS cumulative FROM orders GROUP BY 1 ORDER BY 1;
--# orders | postgres | dashboard
WITH monthly AS (SELECT DATE_TRUNC('month', order_date) AS month, SUM(amount) AS revenue FROM orders GROUP BY 1)
SELECT month, revenue, 100.0 * (revenue - LAG(revenue) OVER (ORDER BY month)) / LAG(revenue) OVER (ORDER BY month) AS growth FROM monthly ORDER BY month;
--# orders | postgres | dashboard
WITH monthly AS (SELECT DATE_TRUNC('month', order_date) AS month, SUM(amount) AS revenue FROM orders GROUP BY 1)
SELECT AVG(revenue) FROM monthly;
--# orders | postgres | dashboard
SELECT "orders"."status" AS "status", COUNT(*) AS "count" FROM "orders" GROUP BY "orders"."status" ORDER BY "orders"."status" ASC;
--# orders | postgres | dashboard
SELECT "source"."channel" AS "channel", SUM("source"."amount") AS "sum" FROM (SELECT "orders"."channel" AS "channel", "orders"."amount" AS "amount" FROM "orders" WHERE "orders"."status" = 'paid') AS "source" GROUP BY "source"."channel" ORDER BY "source"."channel" ASC;
--# orders | postgres | dashboard
SELECT (CAST(extract(dow from "orders"."created_at") AS integer) + 1) AS "created_at", COUNT(*) AS "count" FROM "orders" GROUP BY 1 ORDER BY 1 ASC;
--# orders | postgres | dashboard
--truth SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 50 AS INT) || CASE WHEN lo = 2000 THEN ']' ELSE ')' END, n FROM (SELECT floor(amount / 50) * 50 AS lo, COUNT(*) AS n FROM orders GROUP BY 1)
SELECT FLOOR(("orders"."amount" / 50.0)) * 50.0 AS "amount", COUNT(*) AS "count" FROM "orders" GROUP BY FLOOR(("orders"."amount" / 50.0)) * 50.0 ORDER BY 1;
--# orders | postgres | dashboard
SELECT DATE_TRUNC('quarter', order_date) AS quarter, SUM(amount) AS revenue, COUNT(DISTINCT customer_id) AS customers, SUM(amount) / NULLIF(COUNT(DISTINCT customer_id), 0) AS arpu FROM orders GROUP BY 1 ORDER BY 1;
--# orders | postgres | dashboard
SELECT payment_method, ROUND(AVG(amount)::numeric, 2) AS avg_amount FROM orders GROUP BY payment_method ORDER BY avg_amount DESC;
--# orders | postgres | dashboard
SELECT COALESCE(coupon, 'none') AS coupon, COUNT(*) FROM orders GROUP BY 1;
--# orders | postgres | dashboard
SELECT coupon IS NOT NULL AS used_coupon, COUNT(*), AVG(amount) FROM orders GROUP BY 1;
--# orders | postgres | dashboard
SELECT channel, status, COUNT(*) AS n, RANK() OVER (PARTITION BY channel ORDER BY COUNT(*) DESC) AS rnk FROM orders GROUP BY channel, status;
--# orders | postgres | dashboard
SELECT channel, SUM(amount) / SUM(SUM(amount)) OVER () AS share_of_revenue FROM orders GROUP BY channel;
--# orders | postgres | dashboard
SELECT category, revenue FROM (SELECT p.category, SUM(o.amount) AS revenue, ROW_NUMBER() OVER (ORDER BY SUM(o.amount) DESC) AS rn FROM orders o JOIN products p USING (product_id) GROUP BY p.category) t WHERE rn <= 3;
--# orders | postgres | dashboard
SELECT SUM(amount) FILTER (WHERE order_date >= '2024-01-01') AS this_year, SUM(amount) FILTER (WHERE order_date < '2024-01-01') AS last_year FROM orders;
--# orders | postgres | dashboard
SELECT (SUM(CASE WHEN order_date >= '2024-01-01' THEN amount ELSE 0 END) / SUM(CASE WHEN order_date < '2024-01-01' THEN amount ELSE 0 END) - 1) * 100 AS growth_pct FROM orders;
--# events | postgres | dashboard
SELECT DATE_TRUNC('day', event_time) AS day, COUNT(DISTINCT user_id) AS dau FROM events WHERE event_time >= '2024-06-01' AND event_time < '2024-06-15' GROUP BY 1 ORDER BY 1;
--# events | postgres | dashboard
SELECT DATE_TRUNC('month', event_time) AS month, COUNT(DISTINCT user_id) AS mau FROM events GROUP BY 1 ORDER BY 1;
--# events | postgres | dashboard
SELECT event, COUNT(*) AS n, COUNT(DISTINCT user_id) AS users FROM events GROUP BY event ORDER BY users DESC;
--# events | postgres | dashboard
SELECT COUNT(DISTINCT user_id) FILTER (WHERE event = 'signup') AS signed_up, COUNT(DISTINCT user_id) FILTER (WHERE event = 'purchase') AS purchased FROM events;
--# events | postgres | dashboard
SELECT COUNT(DISTINCT CASE WHEN event = 'purchase' THEN user_id END) * 100.0 / COUNT(DISTINCT user_id) AS conversion FROM events;
--# events | postgres | dashboard
SELECT platform, COUNT(DISTINCT user_id) FROM events WHERE event = 'login' GROUP BY platform;
--# events | postgres | dashboard
SELECT DATE_TRUNC('month', signup_date) AS cohort, COUNT(DISTINCT user_id) AS users FROM events GROUP BY 1 ORDER BY 1;
--# events | postgres | dashboard
SELECT DATE_TRUNC('month', signup_date) AS cohort, COUNT(DISTINCT user_id) FILTER (WHERE event_time >= signup_date + INTERVAL '30 days') AS retained FROM events GROUP BY 1 ORDER BY 1;
--# events | postgres | dashboard
SELECT DATE_TRUNC('month', signup_date) AS cohort, DATE_TRUNC('month', event_time) AS active, COUNT(DISTINCT user_id) AS users FROM events GROUP BY 1, 2 ORDER BY 1, 2;
--# events | postgres | dashboard
WITH daily AS (SELECT DATE_TRUNC('day', event_time) AS day, COUNT(*) AS n FROM events WHERE event_time >= '2024-06-01' GROUP BY 1)
SELECT day, n, AVG(n) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS avg7 FROM daily ORDER BY day;
--# events | postgres | dashboard
--bounds sessions=0:50
SELECT AVG(sessions) FROM (SELECT user_id, COUNT(*) AS sessions FROM events WHERE event = 'login' GROUP BY user_id) s;
--# events | postgres | dashboard
SELECT n_events, COUNT(*) AS users FROM (SELECT user_id, COUNT(*) AS n_events FROM events GROUP BY user_id) t GROUP BY n_events ORDER BY n_events;
--# events | postgres | dashboard
SELECT CASE WHEN n >= 10 THEN 'heavy' WHEN n >= 5 THEN 'medium' ELSE 'light' END AS segment, COUNT(*) FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) t GROUP BY 1;
--# events | postgres | dashboard
SELECT COUNT(*) FROM (SELECT user_id, MIN(event_time) AS first_seen FROM events GROUP BY user_id) u WHERE first_seen >= '2024-03-01';
--# events | postgres | dashboard
SELECT plan, AVG(session_minutes) AS avg_minutes, COUNT(*) FROM events WHERE event = 'login' AND session_minutes > 0 GROUP BY plan;

--# orders | duckdb | dbt
with paid as (
    select * from orders where status = 'paid'
),
final as (
    select date_trunc('month', order_date) as order_month, count(*) as order_count, sum(amount) as revenue
    from paid
    group by 1
)
select * from final order by order_month;
--# orders | duckdb | dbt
with orders_enriched as (
    select o.*, p.category from orders o join products p on o.product_id = p.product_id
)
select category, count(*) as n, avg(amount) as aov from orders_enriched group by category;
--# orders | duckdb | dbt
with source as (select * from orders),
renamed as (select customer_id, amount as order_total, channel as source_channel, order_date from source where amount is not null)
select source_channel, sum(order_total) as total from renamed where order_date >= '2024-01-01' group by source_channel;
--# orders | duckdb | dbt
with per_customer as (
    select customer_id, count(*) as n_orders, sum(amount) as lifetime_value from orders group by customer_id
)
select count(*) as customers, sum(case when n_orders > 1 then 1 else 0 end) as repeat_customers from per_customer;
--# orders | duckdb | dbt
--bounds lifetime_value=0:20000
with per_customer as (
    select customer_id, count(*) as n_orders, sum(amount) as lifetime_value from orders group by customer_id
)
select n_orders, avg(lifetime_value) as ltv, count(*) from per_customer where n_orders <= 5 group by n_orders order by 1;
--# orders | duckdb | dbt
with first_orders as (
    select customer_id, min(order_date) as first_order from orders group by 1
)
select date_trunc('month', first_order) as cohort_month, count(*) as new_customers from first_orders group by 1 order by 1;
--# orders | duckdb | dbt
with per_customer as (select customer_id, count(*) as n from orders group by 1)
select avg(case when n >= 2 then 1.0 else 0.0 end) as repeat_rate from per_customer;
--# orders | duckdb | dbt
select count(*) as n_null_amounts from orders where amount is null;
--# orders | duckdb | dbt
select count(*) - count(distinct order_id) as duplicates from orders;
--# orders | duckdb | dbt
select min(order_date), max(order_date) from orders;
--# events | duckdb | dbt
with base as (select user_id, event, platform from events where platform in ('ios', 'android'))
select platform, count_if(event = 'purchase') as purchases, count(*) as events from base group by all;
--# events | duckdb | dbt
with funnel as (
    select user_id, max(case when event = 'view' then 1 else 0 end) as viewed, max(case when event = 'purchase' then 1 else 0 end) as purchased
    from events group by user_id
)
select sum(viewed) as viewers, sum(purchased) as buyers from funnel;
--# events | duckdb | dbt
with u as (select user_id, count(*) filter (where event = 'purchase') as purchases from events group by user_id)
select purchases, count(*) as users from u where purchases between 0 and 3 group by purchases;

--# visits | duckdb | statistician
SELECT AVG(bill) AS mean, STDDEV_SAMP(bill) AS sd, COUNT(bill) AS n FROM visits;
--# visits | duckdb | statistician
SELECT AVG(bill) AS mean, STDDEV(bill) / SQRT(COUNT(*)) AS se FROM visits;
--# visits | duckdb | statistician
SELECT AVG(bill) - 1.96 * STDDEV(bill) / SQRT(COUNT(*)) AS lo, AVG(bill) + 1.96 * STDDEV(bill) / SQRT(COUNT(*)) AS hi FROM visits;
--# visits | duckdb | statistician
SELECT CORR(age, bill) FROM visits;
--# visits | duckdb | statistician
SELECT sex, CORR(height, weight) AS r FROM visits GROUP BY sex;
--# visits | duckdb | statistician
SELECT REGR_SLOPE(bill, age) AS slope, REGR_INTERCEPT(bill, age) AS intercept FROM visits;
--# visits | duckdb | statistician
SELECT REGR_R2(bill, age) FROM visits;
--# visits | duckdb | statistician
SELECT VAR_SAMP(systolic), VAR_POP(systolic) FROM visits;
--# visits | duckdb | statistician
SELECT STDDEV(bill) / AVG(bill) AS cv FROM visits;
--# visits | duckdb | statistician
SELECT AVG(weight / (height / 100 * height / 100)) AS bmi FROM visits;
--# visits | duckdb | statistician
SELECT AVG(weight / POWER(height / 100.0, 2)) AS bmi FROM visits;
--# visits | duckdb | statistician
SELECT AVG(LN(bill + 1)) FROM visits;
--# visits | duckdb | statistician
SELECT EXP(AVG(LN(bill + 1))) - 1 AS geometric_mean FROM visits;
--# visits | duckdb | statistician
SELECT QUANTILE_CONT(bill, 0.75) - QUANTILE_CONT(bill, 0.25) AS iqr FROM visits;
--# visits | duckdb | statistician
SELECT ward, QUANTILE_CONT(bill, 0.9) AS p90 FROM visits GROUP BY ward ORDER BY p90 DESC;
--# visits | duckdb | statistician
SELECT smoker, readmitted, COUNT(*) FROM visits GROUP BY smoker, readmitted;
--# visits | duckdb | statistician
SELECT smoker, AVG(CASE WHEN readmitted = 1 THEN 1.0 ELSE 0 END) AS risk FROM visits GROUP BY smoker;
--# visits | duckdb | statistician
SELECT (SUM(CASE WHEN smoker AND readmitted = 1 THEN 1 ELSE 0 END) * 1.0 / SUM(CASE WHEN smoker THEN 1 ELSE 0 END)) / (SUM(CASE WHEN NOT smoker AND readmitted = 1 THEN 1 ELSE 0 END) * 1.0 / SUM(CASE WHEN NOT smoker THEN 1 ELSE 0 END)) AS risk_ratio FROM visits;
--# visits | duckdb | statistician
SELECT CASE WHEN age < 18 THEN '0-17' WHEN age < 40 THEN '18-39' WHEN age < 65 THEN '40-64' ELSE '65+' END AS age_group, sex, COUNT(*) AS n FROM visits GROUP BY age_group, sex ORDER BY age_group;
--# visits | duckdb | statistician
--truth SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 10 AS INT) || CASE WHEN lo = 110 THEN ']' ELSE ')' END, n FROM (SELECT floor(age / 10) * 10 AS lo, COUNT(*) AS n FROM visits GROUP BY 1)
SELECT age // 10 * 10 AS decade, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1;
--# visits | duckdb | statistician
--truth SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 5 AS INT) || CASE WHEN lo = 110 THEN ']' ELSE ')' END, n FROM (SELECT floor(age / 5) * 5 AS lo, COUNT(*) AS n FROM visits GROUP BY 1)
SELECT FLOOR(age / 5) AS bin, COUNT(*) FROM visits GROUP BY bin ORDER BY bin;
--# visits | duckdb | statistician
SELECT score, COUNT(*) AS n FROM visits GROUP BY score ORDER BY score;
--# visits | duckdb | statistician
--truth SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 2 DESC LIMIT 1
SELECT MODE(ward) FROM visits;
--# visits | duckdb | statistician
SELECT AVG(ABS(bill - 500)) FROM visits;
--# visits | duckdb | statistician
SELECT SUM((age - 50) * (age - 50)) / COUNT(*) FROM visits;
--# visits | duckdb | statistician
SELECT SUM(bill * bill) / COUNT(*) - AVG(bill) * AVG(bill) AS variance FROM visits;
--# visits | duckdb | statistician
SELECT ward, AVG(bill), STDDEV(bill), COUNT(*), MIN(bill), MEDIAN(bill), MAX(bill) FROM visits GROUP BY ward;
--# visits | duckdb | statistician
SELECT COUNT(*) FILTER (WHERE bill > 3 * 1000) * 1.0 / COUNT(*) AS tail FROM visits;
--# visits | duckdb | statistician
SELECT COUNT(*) FROM visits WHERE ABS(bill - (SELECT AVG(bill) FROM visits)) > 2 * (SELECT STDDEV(bill) FROM visits);
--# visits | duckdb | statistician
SELECT SKEWNESS(bill) FROM visits;
--# visits | duckdb | statistician
SELECT AVG(LEAST(bill, 2000)) AS winsorized FROM visits;
--# visits | duckdb | statistician
SELECT COUNT(*) FROM visits WHERE paid IS NULL OR paid < bill * 0.5;
--# visits | duckdb | statistician
--bounds share=0:1
SELECT AVG(paid / NULLIF(bill, 0)) AS paid_share FROM visits;
--# visits | duckdb | statistician
SELECT SUM(paid) / SUM(bill) AS paid_share FROM visits;
--# visits | duckdb | statistician
SELECT ward, 1.0 * SUM(readmitted) / COUNT(*) AS rate FROM visits GROUP BY ward ORDER BY rate DESC;
--# visits | duckdb | statistician
--truth SELECT '[' || CAST(80 + 20 * b AS INT) || ', ' || CAST(100 + 20 * b AS INT) || CASE WHEN b = 6 THEN ']' ELSE ')' END, n FROM (SELECT floor((systolic - 80) / 20) AS b, COUNT(*) AS n FROM visits WHERE systolic BETWEEN 80 AND 220 GROUP BY 1)
SELECT WIDTH_BUCKET(systolic, 80, 220, 7) AS bucket, COUNT(*) FROM visits GROUP BY 1;
--# employees | duckdb | statistician
SELECT gender, AVG(salary) AS mean, MEDIAN(salary) AS median, COUNT(*) AS n FROM employees GROUP BY gender;
--# employees | duckdb | statistician
SELECT performance, AVG(salary) FROM employees GROUP BY performance ORDER BY performance;
--# employees | duckdb | statistician
SELECT AVG(salary) FILTER (WHERE gender = 'f') / AVG(salary) FILTER (WHERE gender = 'm') AS pay_ratio FROM employees;
--# employees | duckdb | statistician
SELECT COVAR_SAMP(age, salary), CORR(age, salary) FROM employees;
--# employees | duckdb | statistician
SELECT education, gender, AVG(salary), STDDEV_POP(salary), COUNT(*) FROM employees GROUP BY education, gender HAVING COUNT(*) > 50;
--# employees | duckdb | statistician
SELECT NTILE(4) OVER (ORDER BY AVG(salary)) AS quartile, education, AVG(salary) AS s FROM employees GROUP BY education;

--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE LOWER(city) = 'berlin';
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE city ILIKE '%burg%';
--# visits | duckdb | forum
SELECT SUBSTR(diagnosis, 1, 1) AS chapter, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY n DESC;
--# visits | duckdb | forum
SELECT LEFT(diagnosis, 3) AS code, COUNT(*) AS n FROM visits GROUP BY code ORDER BY n DESC LIMIT 5;
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE YEAR(visit_date) = '2024';
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE birth_year = '1980';
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE admitted_at::date = '2024-03-01';
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE visit_date BETWEEN '2024-01-01' AND '2024-01-31';
--# visits | duckdb | forum
SELECT strftime(visit_date, '%Y-%m') AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1;
--# visits | duckdb | forum
SELECT dayname(visit_date) AS day, COUNT(*) FROM visits GROUP BY dayname(visit_date);
--# visits | duckdb | forum
SELECT EXTRACT(year FROM visit_date) AS y, EXTRACT(quarter FROM visit_date) AS q, SUM(bill) FROM visits GROUP BY 1, 2 ORDER BY 1, 2;
--# visits | duckdb | forum
SELECT EXTRACT(week FROM visit_date) AS w, COUNT(*) FROM visits WHERE visit_date >= '2024-01-01' GROUP BY w ORDER BY w;
--# visits | duckdb | forum
SELECT date_part('year', visit_date) AS yr, COUNT(*) FROM visits GROUP BY yr;
--# visits | duckdb | forum
--bounds stay=0:60
SELECT AVG(date_diff('day', admitted_at, discharged_at)) AS los FROM visits;
--# visits | duckdb | forum
SELECT AVG(2024 - birth_year) AS age FROM visits;
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE age % 2 = 0;
--# visits | duckdb | forum
SELECT SUM(CASE WHEN sex = 'f' THEN 1 ELSE 0 END) AS f, SUM(CASE WHEN sex = 'm' THEN 1 ELSE 0 END) AS m FROM visits;
--# visits | duckdb | forum
SELECT ward, SUM(CASE WHEN sex = 'f' THEN 1 END) AS f, SUM(CASE WHEN sex = 'm' THEN 1 END) AS m FROM visits GROUP BY ward;
--# visits | duckdb | forum
SELECT SUM(sex = 'f') AS women FROM visits;
--# visits | duckdb | forum
SELECT AVG(smoker::int) AS smokers FROM visits;
--# visits | duckdb | forum
SELECT ward, COUNT(*) AS cnt FROM visits GROUP BY ward ORDER BY cnt DESC FETCH FIRST 3 ROWS ONLY;
--# visits | duckdb | forum
SELECT ward || ' / ' || sex AS g, COUNT(*) FROM visits GROUP BY 1;
--# visits | duckdb | forum
SELECT CONCAT(ward, '-', sex) AS g, COUNT(*) FROM visits GROUP BY g;
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE (ward = 'Oncology' OR ward = 'Surgery') AND bill > 1000;
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE ward != 'Oncology';
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE smoker IS TRUE;
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE smoker IS NOT TRUE;
--# visits | duckdb | forum
SELECT COUNT(*) AS total, COUNT(CASE WHEN bill > 1000 THEN 1 END) AS expensive FROM visits;
--# visits | duckdb | forum
SELECT t.ward, t.n, t.n * 100.0 / s.total AS pct FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t CROSS JOIN (SELECT COUNT(*) AS total FROM visits) s;
--# visits | duckdb | forum
SELECT a.n - b.n AS difference FROM (SELECT COUNT(*) AS n FROM visits WHERE sex = 'f') a, (SELECT COUNT(*) AS n FROM visits WHERE sex = 'm') b;
--# visits | duckdb | forum
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM visits WHERE ward = 'Surgery') t;
--# visits | duckdb | forum
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, ward FROM visits) t;
--# visits | duckdb | forum
SELECT COUNT(DISTINCT ward || sex) FROM visits;
--# visits | duckdb | forum
SELECT COUNT(DISTINCT (ward, sex)) FROM visits;
--# visits | duckdb | forum
SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward HAVING COUNT(DISTINCT patient_id) > 100 ORDER BY 2 DESC;
--# visits | duckdb | forum
SELECT ward, ROUND(AVG(bill)) AS b FROM visits GROUP BY ward ORDER BY 2 DESC LIMIT 5;
--# visits | duckdb | forum
SELECT CAST(AVG(bill) AS DECIMAL(10, 2)) AS b FROM visits;
--# visits | duckdb | forum
SELECT ROUND(bill, -2) AS b, COUNT(*) FROM visits GROUP BY b ORDER BY b;
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE length(city) > 6;
--# visits | duckdb | forum
SELECT MAX(bill) FROM visits WHERE ward = 'Surgery' AND visit_date > '2024-06-30';
--# visits | duckdb | forum
SELECT ward, MAX(cnt) FROM (SELECT ward, sex, COUNT(*) AS cnt FROM visits GROUP BY ward, sex) GROUP BY ward;
--# visits | duckdb | forum
SELECT COUNT(*) FROM visits WHERE ward_id = (SELECT ward_id FROM wards WHERE name = 'Ward A');
--# visits | duckdb | forum
SELECT SUM(bill) FROM visits WHERE bill > 0 AND bill < 5000;
--# visits | duckdb | forum
--bounds rows=0:8
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM visits WHERE ward = 'Oncology');
--# visits | duckdb | forum
SELECT COUNT(DISTINCT patient_id) FROM visits WHERE patient_id IN (SELECT patient_id FROM visits WHERE ward = 'Oncology') AND ward = 'Surgery';
--# visits | duckdb | forum
SELECT COUNT(*) FROM (SELECT patient_id, MAX(bill) AS worst FROM visits GROUP BY patient_id) WHERE worst > 2000;
--# visits | duckdb | forum
SELECT AVG(top) FROM (SELECT MAX(bill) OVER (PARTITION BY patient_id) AS top FROM visits);
--# visits | duckdb | forum
SELECT COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_date) AS rn FROM visits) t WHERE rn = 1;

--# visits | mysql | mysql
SELECT `ward`, COUNT(*) AS `n` FROM `visits` GROUP BY `ward` ORDER BY `n` DESC LIMIT 5;
--# visits | mysql | mysql
SELECT IFNULL(ward, 'unknown') AS ward, COUNT(*) FROM visits GROUP BY 1;
--# visits | mysql | mysql
SELECT DATE_FORMAT(visit_date, '%Y-%m') AS ym, COUNT(*) FROM visits GROUP BY ym ORDER BY ym;
--# visits | mysql | mysql
SELECT YEAR(visit_date) AS y, MONTH(visit_date) AS m, COUNT(*) FROM visits GROUP BY YEAR(visit_date), MONTH(visit_date);
--# visits | mysql | mysql
SELECT IF(age >= 65, 'senior', 'other') AS who, COUNT(*) FROM visits GROUP BY who;
--# visits | mysql | mysql
--bounds stay=0:60
SELECT AVG(DATEDIFF(discharged_at, admitted_at)) FROM visits;
--# visits | mysql | mysql
SELECT SUM(IF(sex = 'f', 1, 0)) / COUNT(*) AS share FROM visits;
--# visits | mysql | mysql
SELECT WEEKDAY(visit_date) AS d, COUNT(*) FROM visits GROUP BY d;
--# visits | mysql | mysql
SELECT DAYOFWEEK(visit_date) AS d, COUNT(*) FROM visits GROUP BY d;
--# orders | mysql | mysql
SELECT COUNT(*) FROM orders WHERE order_date >= DATE_SUB('2024-12-31', INTERVAL 7 DAY);
--# orders | mysql | mysql
SELECT STD(amount), VARIANCE(amount) FROM orders;
--# orders | mysql | mysql
SELECT customer_id % 10 AS bucket, COUNT(*) FROM orders GROUP BY bucket;
--# orders | mysql | mysql
SELECT TRUNCATE(AVG(amount), 1) FROM orders;
--# visits | tsql | sql server
SELECT TOP 3 ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC;
--# visits | tsql | sql server
SELECT [ward], AVG([bill]) AS [avg bill] FROM [visits] GROUP BY [ward];
--# visits | tsql | sql server
SELECT DATEPART(year, visit_date) AS y, COUNT(*) FROM visits GROUP BY DATEPART(year, visit_date);
--# visits | tsql | sql server
SELECT ISNULL(ward, 'none') AS w, COUNT(*) AS n FROM visits GROUP BY ISNULL(ward, 'none');
--# visits | tsql | sql server
SELECT IIF(age < 18, 'minor', 'adult') AS who, COUNT(*) AS n FROM visits GROUP BY IIF(age < 18, 'minor', 'adult');
--# visits | tsql | sql server
SELECT AVG(CAST(readmitted AS FLOAT)) AS rate FROM visits;
--# visits | tsql | sql server
SELECT COUNT_BIG(*) FROM visits;
--# visits | tsql | sql server
--truth SELECT STDDEV(bill), VARIANCE(bill) FROM visits
SELECT STDEV(bill), VAR(bill) FROM visits;
--# visits | tsql | sql server
SELECT DATENAME(weekday, visit_date) AS d, COUNT(*) AS n FROM visits GROUP BY DATENAME(weekday, visit_date);
--# orders | tsql | sql server
SELECT FORMAT(order_date, 'yyyy-MM') AS m, SUM(amount) AS s FROM orders GROUP BY FORMAT(order_date, 'yyyy-MM') ORDER BY m;
--# orders | tsql | sql server
SELECT COUNT(*) FROM dbo.orders WHERE DATEDIFF(day, order_date, shipped_date) > 3;
--# orders | tsql | sql server
SELECT LEN(country) AS l, COUNT(*) AS n FROM orders GROUP BY LEN(country);
--# orders | sqlite | sqlite
SELECT strftime('%Y', order_date) AS y, SUM(amount) FROM orders GROUP BY y;
--# orders | sqlite | sqlite
--truth SELECT SUM(amount) FROM orders
SELECT TOTAL(amount) FROM orders;
--# orders | sqlite | sqlite
SELECT COUNT(*) FROM orders WHERE substr(country, 1, 1) = 'D';
--# orders | sqlite | sqlite
SELECT ROUND(AVG(amount), 2), COUNT(*) FROM orders WHERE status == 'paid';
--# orders | sqlite | sqlite
SELECT CAST(strftime('%m', order_date) AS INTEGER) AS m, COUNT(*) FROM orders GROUP BY m;
--# visits | bigquery | bigquery
SELECT ward, COUNTIF(age > 65) AS old, SAFE_DIVIDE(COUNTIF(age > 65), COUNT(*)) AS share FROM `visits` GROUP BY ward;
--# visits | bigquery | bigquery
SELECT APPROX_QUANTILES(bill, 4) AS q FROM visits;
--# visits | bigquery | bigquery
SELECT APPROX_QUANTILES(bill, 100)[OFFSET(50)] AS median FROM visits;
--# visits | bigquery | bigquery
SELECT FORMAT_DATE('%Y-%m', visit_date) AS month, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY month;
--# visits | bigquery | bigquery
--truth SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 2 DESC LIMIT 3
SELECT APPROX_TOP_COUNT(ward, 3) FROM visits;
--# visits | bigquery | bigquery
--truth SELECT YEAR(visit_date) AS year, COUNT(DISTINCT patient_id) AS p FROM visits GROUP BY year
SELECT EXTRACT(YEAR FROM visit_date) AS year, APPROX_COUNT_DISTINCT(patient_id) AS p FROM visits GROUP BY year;
--# orders | bigquery | bigquery
SELECT DATE_TRUNC(order_date, MONTH) AS month, ROUND(SUM(amount), 0) AS revenue FROM orders GROUP BY month ORDER BY month;
--# orders | bigquery | bigquery
SELECT TIMESTAMP_TRUNC(created_at, MONTH) AS m, COUNT(*) FROM orders GROUP BY m;
--# orders | bigquery | bigquery
SELECT COUNT(*) FROM orders WHERE DATE_DIFF(shipped_date, order_date, DAY) <= 2;
--# orders | bigquery | bigquery
SELECT COUNT(*) FROM orders WHERE order_date >= DATE_SUB(DATE '2024-12-31', INTERVAL 1 MONTH);
--# visits | spark | spark
SELECT NVL(ward, 'none') AS w, COUNT(1) AS n FROM visits GROUP BY NVL(ward, 'none');
--# visits | spark | spark
SELECT percentile_approx(bill, 0.5) AS median FROM visits;
--# visits | spark | spark
SELECT percentile_approx(bill, array(0.25, 0.5, 0.75)) AS q FROM visits;
--# visits | spark | spark
SELECT ward, mean(bill) AS b, stddev(bill) AS s FROM visits GROUP BY ward;
--# visits | spark | spark
SELECT date_format(visit_date, 'yyyy-MM') AS ym, count(*) FROM visits GROUP BY date_format(visit_date, 'yyyy-MM');
--# visits | spark | spark
--truth SELECT date_trunc('month', visit_date) AS m, sum(bill) FROM visits GROUP BY 1
SELECT trunc(visit_date, 'MM') AS m, sum(bill) FROM visits GROUP BY trunc(visit_date, 'MM');
--# visits | spark | spark
SELECT count_if(smoker) / count(*) AS share FROM visits;
--# orders | spark | spark
SELECT country, sum(amount) AS s FROM orders WHERE country RLIKE '^D' GROUP BY country;
--# orders | spark | spark
SELECT weekofyear(order_date) AS w, count(*) FROM orders WHERE year(order_date) = 2024 GROUP BY weekofyear(order_date);
--# orders | spark | spark
SELECT to_date(created_at) AS d, count(*) AS n FROM orders WHERE created_at >= '2024-12-01' GROUP BY to_date(created_at);

--# employees | sqlite | text to sql
SELECT count(*) FROM employees WHERE age > 56;
--# employees | sqlite | text to sql
SELECT job FROM employees GROUP BY job HAVING count(*) >= 100;
--# employees | sqlite | text to sql
SELECT avg(salary), max(salary), min(salary) FROM employees;
--# employees | sqlite | text to sql
--truth SELECT T2.name FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id GROUP BY T2.name ORDER BY count(*) DESC LIMIT 2
SELECT T2.name FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id GROUP BY T1.dept_id ORDER BY count(*) DESC LIMIT 1;
--# employees | sqlite | text to sql
--truth SELECT T2.name, count(*) FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id GROUP BY T2.name
SELECT T2.name, count(*) FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id GROUP BY T1.dept_id;
--# employees | sqlite | text to sql
--truth SELECT T2.name, T2.location FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id GROUP BY T2.name, T2.location HAVING avg(T1.salary) > 40000
SELECT T2.name, T2.location FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id GROUP BY T2.dept_id HAVING avg(T1.salary) > 40000;
--# employees | sqlite | text to sql
SELECT count(DISTINCT job) FROM employees;
--# employees | sqlite | text to sql
SELECT education FROM employees GROUP BY education ORDER BY avg(salary) ASC LIMIT 1;
--# employees | sqlite | text to sql
--truth SELECT count(*), T2.location FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id WHERE T1.gender = 'f' GROUP BY T2.location
SELECT count(*), T2.location FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id WHERE T1.gender = "f" GROUP BY T2.location;
--# employees | sqlite | text to sql
SELECT sum(salary) FROM employees AS T1 JOIN departments AS T2 ON T1.dept_id = T2.dept_id WHERE T2.name = 'Research';
--# employees | sqlite | text to sql
SELECT count(*) FROM employees WHERE dept_id NOT IN (SELECT dept_id FROM departments WHERE location = 'Bonn');
--# employees | sqlite | text to sql
SELECT avg(age) FROM employees WHERE education = 'PhD' INTERSECT SELECT avg(age) FROM employees WHERE gender = 'f';
--# employees | sqlite | text to sql
SELECT CAST(SUM(CASE WHEN gender = 'f' THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(emp_id) FROM employees;
--# employees | sqlite | text to sql
SELECT COUNT(T1.emp_id) FROM employees AS T1 INNER JOIN departments AS T2 ON T1.dept_id = T2.dept_id WHERE T2.location = 'Bonn' AND STRFTIME('%Y', T1.hire_date) = '2015';
--# employees | sqlite | text to sql
SELECT SUM(IIF(performance = 5, 1, 0)) - SUM(IIF(performance = 1, 1, 0)) AS diff FROM employees;
--# employees | sqlite | text to sql
SELECT T2.name FROM employees AS T1 INNER JOIN departments AS T2 ON T1.dept_id = T2.dept_id GROUP BY T2.name ORDER BY COUNT(T1.emp_id) DESC LIMIT 1;
--# employees | sqlite | text to sql
SELECT education, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM employees WHERE gender = 'f') FROM employees WHERE gender = 'f' GROUP BY education;
--# visits | sqlite | text to sql
SELECT COUNT(patient_id) FROM visits WHERE sex = 'f' AND strftime('%Y', visit_date) = '2023';
--# visits | sqlite | text to sql
SELECT DISTINCT diagnosis FROM visits GROUP BY diagnosis ORDER BY COUNT(diagnosis) DESC LIMIT 1;
--# visits | sqlite | text to sql
SELECT AVG(CASE WHEN smoker THEN bill END) - AVG(CASE WHEN NOT smoker THEN bill END) FROM visits;

--# visits | duckdb | metabase
SELECT "source"."ward" AS "ward", "source"."count" AS "count" FROM (SELECT "visits"."ward" AS "ward", COUNT(*) AS "count" FROM "visits" GROUP BY "visits"."ward" ORDER BY "visits"."ward" ASC) AS "source" WHERE "source"."count" > 1000 LIMIT 2000;
--# visits | duckdb | metabase
SELECT CAST("visits"."admitted_at" AS DATE) AS "admitted_at", COUNT(*) AS "count" FROM "visits" WHERE "visits"."admitted_at" >= TIMESTAMP '2024-03-01 00:00:00' AND "visits"."admitted_at" < TIMESTAMP '2024-04-01 00:00:00' GROUP BY CAST("visits"."admitted_at" AS DATE) ORDER BY CAST("visits"."admitted_at" AS DATE) ASC;
--# visits | duckdb | metabase
SELECT SUM(CASE WHEN "visits"."sex" = 'f' THEN 1 ELSE 0.0 END) / CAST(COUNT(*) AS float) AS "share" FROM "visits";
--# visits | duckdb | metabase
SELECT "Wards"."building" AS "Wards__building", SUM("visits"."bill") AS "sum" FROM "visits" LEFT JOIN "wards" AS "Wards" ON "visits"."ward_id" = "Wards"."ward_id" GROUP BY "Wards"."building" ORDER BY "Wards"."building" ASC;
--# orders | duckdb | metabase
SELECT DATE_TRUNC('month', "orders"."created_at") AS "created_at", "orders"."country" AS "country", COUNT(*) AS "count" FROM "orders" WHERE ("orders"."created_at" >= TIMESTAMP '2024-01-01 00:00:00' AND "orders"."created_at" < TIMESTAMP '2025-01-01 00:00:00') AND ("orders"."country" = 'DE' OR "orders"."country" = 'FR') GROUP BY DATE_TRUNC('month', "orders"."created_at"), "orders"."country" ORDER BY DATE_TRUNC('month', "orders"."created_at") ASC, "orders"."country" ASC;
--# orders | duckdb | metabase
SELECT COUNT(*) AS "count" FROM "orders" WHERE "orders"."coupon" IS NULL OR "orders"."coupon" <> 'VIP';
--# visits | duckdb | dbt project
select w.building, count(*) as n from visits v inner join wards w using (ward_id) where v.admitted_at >= '2024-01-01' group by all order by all;
--# visits | duckdb | dbt project
with source as (select * from visits), renamed as (select patient_id, ward as department, bill as amount, admitted_at::date as admitted_on from source) select date_trunc('quarter', admitted_on) as quarter, department, sum(amount) as revenue from renamed where admitted_on between '2023-01-01' and '2024-12-31' group by 1, 2 order by 1, 2;
--# visits | duckdb | dbt project
with a as (select ward, avg(bill) as m from visits group by ward), b as (select avg(bill) as overall from visits) select a.ward, a.m, a.m - b.overall as diff from a cross join b order by a.ward;
--# orders | duckdb | dbt project
select country, coalesce(sum(amount), 0) as revenue, coalesce(sum(case when is_returned then amount end), 0) as returned from orders group by country order by revenue desc;
--# orders | duckdb | dbt project
with daily as (select created_at::date as d, count(*) as n from orders where created_at >= '2024-01-01' and created_at < '2024-02-01' group by d) select avg(n) as per_day from daily;
--# orders | duckdb | dbt project
select country, channel, count(*) as n from orders where (country, channel) in (('DE', 'web'), ('FR', 'shop')) group by country, channel;
--# visits | duckdb | analyst
SELECT ward, (AVG(bill) - (SELECT AVG(bill) FROM visits)) / (SELECT STDDEV(bill) FROM visits) AS z FROM visits GROUP BY ward;
--# visits | duckdb | analyst
SELECT ward, COUNT(*) AS n, CASE WHEN COUNT(*) > 2500 THEN 'large' ELSE 'small' END AS size FROM visits GROUP BY ward;
--# visits | duckdb | analyst
SELECT CASE WHEN sex = 'f' THEN 'women' ELSE 'men' END AS who, AVG(age) AS mean_age FROM visits GROUP BY sex;
--# visits | duckdb | analyst
SELECT 'women' AS who, COUNT(*) AS n, AVG(bill) AS mean_bill FROM visits WHERE sex = 'f' UNION ALL SELECT 'men', COUNT(*), AVG(bill) FROM visits WHERE sex = 'm' UNION ALL SELECT 'all', COUNT(*), AVG(bill) FROM visits;
--# visits | duckdb | analyst
SELECT UPPER(ward) AS ward_name, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC;
--# visits | duckdb | analyst
SELECT ward, GREATEST(COUNT(*) - 1000, 0) AS above FROM visits GROUP BY ward;
--# visits | duckdb | analyst
SELECT ward, COUNT(*) FILTER (WHERE score >= 4) * 100.0 / COUNT(score) AS happy, COUNT(score) * 100.0 / COUNT(*) AS answered FROM visits GROUP BY ward;
--# visits | duckdb | analyst
SELECT AVG(bill) FILTER (WHERE smoker) - AVG(bill) FILTER (WHERE NOT smoker) AS difference FROM visits;
--# visits | duckdb | analyst
SELECT COUNT(*) FROM visits WHERE smoker = 1;
--# visits | duckdb | analyst
SELECT SUM(1) AS n FROM visits WHERE ward = 'Surgery';
--# visits | duckdb | hospital
SELECT COUNT(*) FROM visits WHERE discharged_at - admitted_at > INTERVAL '7 days';
--# visits | duckdb | hospital
SELECT ward, COUNT(*) AS n FROM visits WHERE discharged_at > admitted_at + INTERVAL 3 DAY GROUP BY ward;
--# visits | duckdb | hospital
--bounds hours=0:800
SELECT AVG(EXTRACT(EPOCH FROM (discharged_at - admitted_at)) / 3600) AS hours FROM visits;
--# visits | duckdb | hospital
SELECT COUNT(*) FROM visits WHERE date_diff('hour', admitted_at, discharged_at) <= 48;
--# visits | duckdb | hospital
--bounds days=0:40
SELECT ward, AVG(discharged_at::date - admitted_at::date) AS days FROM visits GROUP BY ward;
--# visits | duckdb | hospital
SELECT CASE WHEN EXTRACT(hour FROM admitted_at) BETWEEN 8 AND 17 THEN 'day' ELSE 'night' END AS shift, COUNT(*) FROM visits GROUP BY shift;
--# visits | duckdb | hospital
SELECT CASE WHEN dayofweek(admitted_at) IN (0, 6) THEN 'weekend' ELSE 'weekday' END AS w, COUNT(*) FROM visits GROUP BY w;
--# visits | duckdb | hospital
SELECT ward_id, MAX(w.building) AS building, COUNT(*) AS n FROM visits v JOIN wards w USING (ward_id) GROUP BY ward_id;
--# visits | duckdb | hospital
SELECT COUNT(*) FROM visits WHERE ward_id IN (SELECT ward_id FROM wards WHERE beds > (SELECT AVG(beds) FROM wards));
--# visits | duckdb | hospital
SELECT city, COUNT(*) AS n FROM visits NATURAL JOIN cities WHERE region = 'South' GROUP BY city;
--# visits | duckdb | hospital
SELECT age, COUNT(*) AS n FROM visits WHERE age BETWEEN 30 AND 39 GROUP BY age ORDER BY age;
--# visits | duckdb | hospital
SELECT insurer, COUNT(*) AS n FROM visits WHERE insurer IN ('A1', 'B2') GROUP BY insurer;
--# visits | duckdb | hospital
SELECT strftime(admitted_at, '%Y-%m') AS ym, COUNT(*) AS n FROM visits WHERE year(admitted_at) = 2024 GROUP BY ym ORDER BY ym;
--# visits | duckdb | hospital
SELECT LEFT(diagnosis, 1) AS chapter, COUNT(*) AS n FROM visits GROUP BY chapter ORDER BY n DESC;
--# orders | duckdb | shop
SELECT * FROM (SELECT country, channel, SUM(quantity) AS units, ROW_NUMBER() OVER (PARTITION BY country ORDER BY SUM(quantity) DESC) AS rn FROM orders GROUP BY country, channel) WHERE rn <= 1 ORDER BY country, rn;
--# orders | duckdb | shop
SELECT p.category, SUM(o.quantity * p.price) AS list_revenue FROM orders o JOIN products p USING (product_id) GROUP BY p.category ORDER BY p.category;
--# orders | duckdb | shop
SELECT CASE WHEN country IN ('DE', 'AT', 'CH') THEN 'DACH' ELSE 'other' END AS region, SUM(quantity) AS units FROM orders GROUP BY region;
--# orders | duckdb | shop
SELECT EXTRACT(month FROM created_at) AS m, SUM(CASE WHEN EXTRACT(year FROM created_at) = 2023 THEN 1 ELSE 0 END) AS y2023, SUM(CASE WHEN EXTRACT(year FROM created_at) = 2024 THEN 1 ELSE 0 END) AS y2024 FROM orders GROUP BY m ORDER BY m;
--# orders | duckdb | shop
SELECT country, COUNT(*) AS n FROM orders GROUP BY country ORDER BY CASE country WHEN 'DE' THEN 1 ELSE 2 END, country;
--# orders | duckdb | shop
SELECT quantity, COUNT(*) AS n FROM orders WHERE quantity BETWEEN 1 AND 5 GROUP BY quantity ORDER BY quantity;
--# orders | duckdb | shop
SELECT TRUNC(AVG(amount), 1) AS mean, ROUND(COALESCE(SUM(amount), 0) / NULLIF(COUNT(*), 0), 2) AS again FROM orders;
--# orders | duckdb | shop
SELECT AVG(quantity) AS q, COUNT(*) AS n FROM orders WHERE shipped_at - created_at <= INTERVAL '5 days';

--# orders | postgres | looker
SELECT "source"."month" AS "month", SUM("source"."revenue") AS "sum" FROM (SELECT DATE_TRUNC('month', "public"."orders"."created_at") AS "month", "public"."orders"."amount" AS "revenue" FROM "public"."orders") AS "source" GROUP BY "source"."month" ORDER BY "source"."month" ASC;
--# orders | postgres | looker
SELECT "public"."orders"."country" AS "country", COUNT(*) AS "count" FROM "public"."orders" WHERE "public"."orders"."status" = 'paid' GROUP BY "public"."orders"."country" ORDER BY "count" DESC, "public"."orders"."country" ASC LIMIT 10;
--# orders | postgres | looker
SELECT DATE_TRUNC('month', CAST("orders"."created_at" AS timestamp)) AS "created_at", COUNT(distinct "orders"."customer_id") AS "count" FROM "orders" GROUP BY DATE_TRUNC('month', CAST("orders"."created_at" AS timestamp)) ORDER BY DATE_TRUNC('month', CAST("orders"."created_at" AS timestamp)) ASC;
--# orders | postgres | looker
SELECT "Products"."category" AS "Products__category", DATE_TRUNC('quarter', "orders"."order_date") AS "order_date", SUM("orders"."amount") AS "sum" FROM "orders" LEFT JOIN "products" AS "Products" ON "orders"."product_id" = "Products"."product_id" WHERE "orders"."status" <> 'cancelled' OR "orders"."status" IS NULL GROUP BY "Products"."category", DATE_TRUNC('quarter', "orders"."order_date") ORDER BY "Products"."category" ASC, DATE_TRUNC('quarter', "orders"."order_date") ASC;
--# orders | postgres | looker
SELECT CASE WHEN "orders"."amount" >= 0 AND "orders"."amount" < 100 THEN '0 to 99' WHEN "orders"."amount" >= 100 AND "orders"."amount" < 300 THEN '100 to 299' WHEN "orders"."amount" >= 300 THEN '300 or Above' ELSE 'Undefined' END AS "orders.amount_tier", COUNT(*) AS "orders.count", COALESCE(SUM(orders.amount), 0) AS "orders.total_amount" FROM orders AS orders GROUP BY 1 ORDER BY 1 LIMIT 500;
--# orders | postgres | looker
SELECT TO_CHAR(DATE_TRUNC('month', orders.created_at), 'YYYY-MM') AS "orders.created_month", COUNT(DISTINCT orders.customer_id) AS "orders.customers" FROM orders AS orders WHERE ((orders.created_at >= (TIMESTAMP '2024-01-01') AND orders.created_at < (TIMESTAMP '2025-01-01'))) GROUP BY 1 ORDER BY 1 DESC LIMIT 500;
--# orders | postgres | looker
SELECT orders.channel AS "orders.channel", COUNT(CASE WHEN orders.is_returned THEN 1 ELSE NULL END) AS "orders.returned", 1.0 * COUNT(CASE WHEN orders.is_returned THEN 1 ELSE NULL END) / NULLIF(COUNT(*), 0) AS "orders.return_rate" FROM orders GROUP BY 1 HAVING COUNT(*) > 100 ORDER BY 3 DESC LIMIT 500;
--# orders | postgres | looker
SELECT AVG(orders.amount) AS "avg", MIN(orders.amount) AS "min", MAX(orders.amount) AS "max" FROM orders WHERE NOT (orders.is_returned) AND orders.payment_method IN ('card', 'paypal');
--# orders | postgres | looker
SELECT "source"."count" AS "count", COUNT(*) AS "count_2" FROM (SELECT "orders"."customer_id" AS "customer_id", COUNT(*) AS "count" FROM "orders" GROUP BY "orders"."customer_id") AS "source" GROUP BY "source"."count" ORDER BY "source"."count" ASC;
--# orders | postgres | looker
SELECT COUNT(*) AS "count" FROM "orders" WHERE "orders"."created_at" >= DATE_TRUNC('month', TIMESTAMP '2024-12-15 00:00:00') AND "orders"."created_at" < DATE_TRUNC('month', TIMESTAMP '2024-12-15 00:00:00') + INTERVAL '1 month';
--# orders | mysql | looker
SELECT DATE_FORMAT(`orders`.`created_at`, '%Y-%m') AS `orders.created_month`, `orders`.`country` AS `orders.country`, COALESCE(SUM(`orders`.`amount`), 0) AS `orders.revenue` FROM `orders` AS `orders` WHERE (`orders`.`status` = 'paid') GROUP BY 1, 2 ORDER BY 1 DESC, 3 DESC LIMIT 500;
--# orders | mysql | looker
--truth SELECT date_trunc('month', order_date) AS m, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1
SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`order_date`, '%Y-%m'), '-01'), '%Y-%m-%d') AS `order_date`, COUNT(*) AS `count` FROM `orders` GROUP BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`order_date`, '%Y-%m'), '-01'), '%Y-%m-%d') ORDER BY 1 ASC;
--# orders | mysql | looker
SELECT QUARTER(order_date) AS q, ROUND(AVG(amount), 2) AS aov FROM orders WHERE YEAR(order_date) = 2024 GROUP BY QUARTER(order_date) ORDER BY q;
--# orders | mysql | looker
SELECT HOUR(created_at) AS h, COUNT(*) AS n FROM orders GROUP BY HOUR(created_at) ORDER BY h;
--# orders | bigquery | looker
SELECT DATE(created_at) AS day, COUNT(*) AS orders, COUNT(DISTINCT customer_id) AS customers FROM `orders` WHERE DATE(created_at) BETWEEN '2024-12-01' AND '2024-12-14' GROUP BY day ORDER BY day;
--# orders | bigquery | looker
SELECT FORMAT_TIMESTAMP('%Y-%m', created_at) AS month, SUM(IF(status = 'refunded', amount, 0)) AS refunds, SAFE_DIVIDE(SUM(IF(status = 'refunded', amount, 0)), SUM(amount)) AS refund_share FROM orders GROUP BY month ORDER BY month;
--# orders | bigquery | looker
SELECT country, channel, COUNT(*) AS n FROM orders GROUP BY country, channel QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC) = 1 ORDER BY country;
--# orders | bigquery | looker
SELECT EXTRACT(DAYOFWEEK FROM created_at) AS dow, COUNT(*) AS n FROM orders GROUP BY dow ORDER BY dow;
--# orders | tsql | looker
SELECT TOP (5) [country], SUM([amount]) AS [revenue] FROM [dbo].[orders] GROUP BY [country] ORDER BY SUM([amount]) DESC;
--# orders | tsql | looker
--truth SELECT date_trunc('month', order_date) AS m, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1
SELECT DATEFROMPARTS(YEAR(order_date), MONTH(order_date), 1) AS m, COUNT(*) AS n FROM orders GROUP BY DATEFROMPARTS(YEAR(order_date), MONTH(order_date), 1) ORDER BY m;
--# orders | tsql | looker
SELECT YEAR(order_date) AS y, DATEPART(quarter, order_date) AS q, SUM(amount) AS revenue FROM orders GROUP BY YEAR(order_date), DATEPART(quarter, order_date) ORDER BY y, q;
--# orders | tsql | looker
--truth SELECT date_trunc('month', order_date) AS m, SUM(amount) AS s FROM orders GROUP BY 1
SELECT DATEADD(month, DATEDIFF(month, 0, order_date), 0) AS m, SUM(amount) AS s FROM orders GROUP BY DATEADD(month, DATEDIFF(month, 0, order_date), 0);
--# orders | tsql | looker
--truth SELECT CAST(created_at AS date) AS d, COUNT(*) AS n FROM orders WHERE created_at >= '2024-12-01' AND created_at < '2024-12-15' GROUP BY 1 ORDER BY 1
SELECT CAST(created_at AS date) AS d, COUNT(*) AS n FROM orders WHERE created_at >= '20241201' AND created_at < '20241215' GROUP BY CAST(created_at AS date) ORDER BY d;
--# orders | tsql | looker
--truth SELECT strftime(order_date, '%Y-%m') AS ym, COUNT(*) AS n FROM orders GROUP BY 1
SELECT CONVERT(varchar(7), order_date, 120) AS ym, COUNT(*) AS n FROM orders GROUP BY CONVERT(varchar(7), order_date, 120);
--# events | postgres | looker
WITH dau AS (SELECT DATE_TRUNC('day', event_time)::date AS day, COUNT(DISTINCT user_id) AS users FROM events WHERE event_time >= '2024-05-01' AND event_time < '2024-06-01' GROUP BY 1) SELECT AVG(users) AS avg_dau, MAX(users) AS peak FROM dau;
--# events | postgres | looker
WITH dau AS (SELECT AVG(users) AS v FROM (SELECT event_time::date AS d, COUNT(DISTINCT user_id) AS users FROM events WHERE event_time >= '2024-05-01' AND event_time < '2024-06-01' GROUP BY 1) x), mau AS (SELECT COUNT(DISTINCT user_id) AS v FROM events WHERE event_time >= '2024-05-01' AND event_time < '2024-06-01') SELECT dau.v / mau.v AS stickiness FROM dau, mau;
--# events | postgres | looker
SELECT platform, event, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY platform), 1) AS pct FROM events GROUP BY platform, event ORDER BY platform, n DESC;
--# events | postgres | looker
SELECT COUNT(DISTINCT user_id) AS users FROM events WHERE event = 'purchase' AND user_id IN (SELECT user_id FROM events WHERE event = 'view');
--# events | postgres | looker
SELECT SUM(CASE WHEN event = 'signup' THEN 1 ELSE 0 END) AS signups, SUM(CASE WHEN event = 'purchase' THEN 1 ELSE 0 END) AS purchases, ROUND(SUM(CASE WHEN event = 'purchase' THEN 1 ELSE 0 END)::numeric / NULLIF(SUM(CASE WHEN event = 'view' THEN 1 ELSE 0 END), 0), 4) AS rate FROM events;
--# events | bigquery | looker
SELECT DATE_TRUNC(DATE(event_time), WEEK(MONDAY)) AS week, COUNT(DISTINCT user_id) AS wau FROM events GROUP BY week ORDER BY week;
--# events | spark | looker
SELECT date_trunc('MONTH', event_time) AS month, platform, approx_count_distinct(user_id) AS users FROM events GROUP BY 1, 2 ORDER BY 1, 2;
--# visits | postgres | looker
SELECT "visits"."ward" AS "ward", AVG("visits"."bill") AS "avg", percentile_cont(0.5) WITHIN GROUP (ORDER BY "visits"."bill") AS "median" FROM "visits" WHERE "visits"."visit_date" BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' GROUP BY "visits"."ward" ORDER BY "avg" DESC;
--# visits | postgres | looker
--truth SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 10 AS INT) || CASE WHEN lo = 110 THEN ']' ELSE ')' END, n FROM (SELECT floor(age / 10) * 10 AS lo, COUNT(*) AS n FROM visits GROUP BY 1)
SELECT ((FLOOR((("visits"."age" - 0.0) / 10.0)) * 10) + 0.0) AS "age", COUNT(*) AS "count" FROM "visits" GROUP BY ((FLOOR((("visits"."age" - 0.0) / 10.0)) * 10) + 0.0) ORDER BY 1 ASC;
--# visits | postgres | looker
SELECT "source"."ward" AS "ward", "source"."avg" AS "avg", "source"."avg" - "source"."median" AS "gap" FROM (SELECT "visits"."ward" AS "ward", AVG("visits"."bill") AS "avg", MEDIAN("visits"."bill") AS "median" FROM "visits" GROUP BY "visits"."ward") AS "source" ORDER BY "gap" DESC LIMIT 1048575;
--# visits | postgres | looker
SELECT COUNT(*) AS "count" FROM "visits" WHERE (LOWER("visits"."city") LIKE '%ber%') AND ("visits"."insurer" IS NOT NULL) AND ("visits"."insurer" <> '' OR "visits"."insurer" IS NULL);
--# visits | postgres | looker
SELECT EXTRACT(YEAR FROM "visits"."visit_date") AS "year", "visits"."smoker" AS "smoker", COUNT(DISTINCT "visits"."patient_id") AS "count" FROM "visits" GROUP BY EXTRACT(YEAR FROM "visits"."visit_date"), "visits"."smoker" ORDER BY 1, 2;
--# visits | spark | looker
SELECT ward, percentile(bill, 0.5) AS p50, percentile(bill, 0.95) AS p95, count(1) AS n FROM visits GROUP BY ward ORDER BY p95 DESC;
--# visits | mysql | looker
--truth SELECT CASE WHEN datesub('day', admitted_at, discharged_at) <= 3 THEN 'short' WHEN datesub('day', admitted_at, discharged_at) <= 7 THEN 'medium' ELSE 'long' END AS stay, COUNT(*) AS n FROM visits GROUP BY stay
SELECT CASE WHEN TIMESTAMPDIFF(DAY, admitted_at, discharged_at) <= 3 THEN 'short' WHEN TIMESTAMPDIFF(DAY, admitted_at, discharged_at) <= 7 THEN 'medium' ELSE 'long' END AS stay, COUNT(*) AS n FROM visits GROUP BY stay;
--# employees | tsql | looker
SELECT d.[name], COUNT(*) AS headcount, AVG(CAST(e.[salary] AS float)) AS avg_salary FROM [employees] e INNER JOIN [departments] d ON d.[dept_id] = e.[dept_id] GROUP BY d.[name] ORDER BY headcount DESC;
--# employees | duckdb | looker
SELECT location, COUNT(*) AS n, SUM(salary) AS payroll, SUM(salary) * 100.0 / SUM(SUM(salary)) OVER () AS pct FROM employees LEFT JOIN departments USING (dept_id) GROUP BY location ORDER BY payroll DESC;

--# orders | bigquery | warehouse
with orders_base as (select * from `orders` where status not in ('cancelled', 'refunded')), daily as (select date(created_at) as order_day, count(*) as n_orders, sum(amount) as revenue from orders_base where created_at >= '2024-11-01' and created_at < '2024-12-01' group by 1) select order_day, n_orders, revenue, safe_divide(revenue, n_orders) as aov, sum(revenue) over (order by order_day) as running_revenue from daily order by order_day;
--# orders | duckdb | warehouse
with monthly as (select date_trunc('month', order_date) as month, country, sum(amount) as revenue from orders group by 1, 2), ranked as (select *, rank() over (partition by month order by revenue desc) as country_rank from monthly) select month, country, revenue from ranked where country_rank <= 3 and month >= '2024-01-01' order by month, country_rank;
--# orders | postgres | warehouse
with monthly as (select date_trunc('month', order_date)::date as month, sum(amount) as revenue from orders where status = 'paid' group by 1), final as (select month, revenue, lag(revenue) over (order by month) as previous, revenue / nullif(lag(revenue) over (order by month), 0) - 1 as growth from monthly) select * from final order by month;
--# orders | duckdb | warehouse
--bounds number_of_orders=0:10
with customer_orders as (select customer_id, min(order_date) as first_order_date, max(order_date) as most_recent_order_date, count(order_id) as number_of_orders from orders group by 1) select count(*) as customers, avg(number_of_orders) as avg_orders from customer_orders where number_of_orders > 0;
--# orders | duckdb | warehouse
with customer_orders as (select customer_id, count(*) as number_of_orders from orders group by 1), final as (select case when number_of_orders = 1 then 'one-time' when number_of_orders between 2 and 4 then 'repeat' else 'loyal' end as customer_type from customer_orders) select customer_type, count(*) as customers from final group by customer_type;
--# orders | postgres | warehouse
with paid as (select 'paid' as kind, sum(amount) as total from orders where status = 'paid'), refunded as (select 'refunded' as kind, sum(amount) as total from orders where status = 'refunded'), unioned as (select * from paid union all select * from refunded) select * from unioned;
--# orders | duckdb | warehouse
select 'orders' as metric, count(*) as value from orders union all select 'customers' as metric, count(distinct customer_id) as value from orders union all select 'revenue' as metric, sum(amount) as value from orders;
--# orders | duckdb | warehouse
with o as (select *, coalesce(coupon, 'no coupon') as coupon_code, case when quantity > 3 then 'bulk' else 'normal' end as order_size from orders) select order_size, count(*) as n, avg(amount) as avg_amount from o group by order_size;
--# orders | duckdb | warehouse
with o as (select order_id, customer_id, amount, cast(created_at as date) as ordered_on, datediff('day', order_date, shipped_date) as days_to_ship from orders) select count(*) as late from o where days_to_ship > 5;
--# orders | postgres | warehouse
select c.region, date_trunc('quarter', o.order_date)::date as quarter, count(distinct o.customer_id) as customers, sum(o.amount) / nullif(count(distinct o.customer_id), 0) as revenue_per_customer from orders as o left join countries as c on o.country = c.country where o.order_date >= '2024-01-01'::date and o.order_date < '2025-01-01'::date group by 1, 2 order by 1, 2;
--# orders | spark | warehouse
with base as (select date_format(order_date, 'yyyy-MM') as ym, amount, if(status = 'refunded', 1, 0) as is_refund from orders) select ym, sum(is_refund) as refunds, count(*) as orders, round(sum(is_refund) / count(*), 4) as refund_rate from base group by ym order by ym;
--# orders | duckdb | warehouse
with spine as (select country, name from countries), sales as (select country, count(*) as n from orders group by country) select spine.name, coalesce(sales.n, 0) as n from spine left join sales on spine.country = sales.country order by n desc;
--# orders | duckdb | warehouse
with sales as (select product_id, sum(quantity) as units, sum(amount) as revenue from orders group by product_id) select p.name, s.units, s.revenue from sales s join products p on s.product_id = p.product_id order by s.revenue desc limit 5;
--# orders | duckdb | warehouse
with yearly as (select extract(year from order_date) as yr, country, sum(amount) as revenue from orders group by 1, 2) select country, sum(case when yr = 2023 then revenue end) as revenue_2023, sum(case when yr = 2024 then revenue end) as revenue_2024 from yearly group by country order by country;
--# orders | duckdb | warehouse
select count(*) as failures from orders where amount < 0 or amount is null or status not in ('paid', 'pending', 'refunded', 'cancelled');
--# orders | duckdb | warehouse
select count(*) as total_rows, count(coupon) as non_null, count(distinct coupon) as distinct_values, 1 - count(coupon) * 1.0 / count(*) as null_rate from orders;
--# orders | postgres | warehouse
with first_orders as (select customer_id, min(created_at) as first_at from orders group by customer_id), cohorts as (select customer_id, date_trunc('month', first_at) as cohort_month from first_orders) select cohort_month, count(distinct customer_id) as new_customers from cohorts group by cohort_month order by cohort_month;
--# orders | duckdb | warehouse
with ordered as (select *, row_number() over (partition by customer_id order by created_at) as order_seq from orders) select channel, count(*) as first_orders, avg(amount) as avg_first_amount from ordered where order_seq = 1 group by channel;
--# orders | duckdb | warehouse
with latest as (select * from orders qualify row_number() over (partition by customer_id order by created_at desc) = 1) select status, count(*) as customers from latest group by status;
--# orders | bigquery | warehouse
select date_trunc(order_date, month) as month, countif(coupon is not null) as with_coupon, count(*) as n, round(100 * countif(coupon is not null) / count(*), 1) as pct_coupon from `orders` group by 1 order by 1;
--# events | duckdb | warehouse
with stg as (select user_id, event as event_name, event_time as occurred_at, plan as plan_name from events), agg as (select plan_name, count(*) as n_events, count(distinct user_id) as n_users from stg group by plan_name) select plan_name, n_events, n_users, n_events * 1.0 / nullif(n_users, 0) as events_per_user from agg order by events_per_user desc;
--# events | postgres | warehouse
with activity as (select user_id, min(event_time) filter (where event = 'purchase') as first_purchase, min(signup_date) as signed_up from events group by user_id) select count(*) filter (where first_purchase is not null) * 1.0 / count(*) as conversion_rate from activity;
--# events | postgres | warehouse
with u as (select user_id, max(case when event = 'view' then 1 else 0 end) as did_view, max(case when event = 'login' then 1 else 0 end) as did_login, max(case when event = 'purchase' then 1 else 0 end) as did_buy from events group by 1) select count(*) as users, sum(did_view) as viewed, sum(case when did_view = 1 and did_login = 1 then 1 else 0 end) as logged_in, sum(did_view * did_login * did_buy) as bought from u;
--# events | duckdb | warehouse
with cohorts as (select date_trunc('month', signup_date) as cohort, date_diff('month', signup_date, event_time) as months_since, user_id from events) select cohort, months_since, count(distinct user_id) as users from cohorts where months_since between 0 and 3 group by 1, 2 order by 1, 2;
--# events | spark | warehouse
select plan, platform, sum(case when event = 'purchase' then 1 else 0 end) / nullif(count(*), 0) as purchase_rate, avg(session_minutes) as avg_minutes from events group by plan, platform order by plan, platform;
--# events | duckdb | warehouse
with sessions as (select *, session_minutes / 60.0 as hours from events where session_minutes > 0) select plan, sum(hours) as total_hours from sessions group by plan order by total_hours desc;
--# visits | duckdb | warehouse
with stays as (select patient_id, ward, cast(admitted_at as date) as admitted_on, cast(discharged_at as date) as discharged_on, bill from visits), final as (select ward, date_trunc('month', admitted_on) as month, count(*) as admissions, sum(bill) as billed from stays group by ward, month) select * from final where admissions > 50 order by ward, month;
--# visits | postgres | warehouse
with visits_enriched as (select v.*, w.name as ward_name, w.building from visits v inner join wards w on w.ward_id = v.ward_id) select building, ward_name, count(*) as visits, count(distinct patient_id) as patients, avg(bill) as avg_bill from visits_enriched group by building, ward_name order by building, ward_name;
--# visits | duckdb | warehouse
select ward, count(*) as n, sum(case when paid is null then 1 else 0 end) as unpaid, coalesce(sum(paid), 0) / nullif(sum(bill), 0) as collection_rate from visits group by ward having count(*) >= 10 order by collection_rate;
--# visits | tsql | warehouse
WITH v AS (SELECT patient_id, ward, DATEDIFF(day, admitted_at, discharged_at) AS los FROM visits) SELECT ward, SUM(CASE WHEN los > 7 THEN 1 ELSE 0 END) AS long_stays, COUNT(*) AS n FROM v GROUP BY ward ORDER BY long_stays DESC;
--# visits | mysql | warehouse
with tagged as (select *, case when age < 18 then 'child' when age < 65 then 'adult' else 'senior' end as age_group from visits) select age_group, sex, count(*) as n, round(avg(bill), 2) as mean_bill from tagged group by age_group, sex with rollup;
--# visits | duckdb | warehouse
with a as (select ward, count(*) as n_2023 from visits where year(visit_date) = 2023 group by ward), b as (select ward, count(*) as n_2024 from visits where year(visit_date) = 2024 group by ward) select coalesce(a.ward, b.ward) as ward, n_2023, n_2024, n_2024 - n_2023 as change from a full outer join b on a.ward = b.ward order by 1;
--# visits | duckdb | warehouse
with by_ward as (select ward, sum(bill) as total from visits group by ward), overall as (select sum(bill) as grand_total from visits) select by_ward.ward, by_ward.total, by_ward.total / overall.grand_total as share from by_ward, overall order by share desc;
--# visits | bigquery | warehouse
--truth select ward, len(string_split(diagnosis, '.')) as parts, count(*) as n from visits group by ward, parts
select ward, array_length(split(diagnosis, '.')) as parts, count(*) as n from visits group by ward, parts;
--# visits | bigquery | warehouse
--truth select split_part(diagnosis, '.', 1) as code, count(*) as n from visits group by 1 order by 2 desc limit 5
select split(diagnosis, '.')[offset(0)] as chapter, count(*) as n from visits group by chapter order by n desc limit 5;
--# visits | postgres | warehouse
select split_part(diagnosis, '.', 1) as code, count(*) as n from visits group by 1 order by 2 desc limit 5;
--# visits | duckdb | warehouse
select md5(ward) as ward_key, count(*) as n from visits group by 1;
--# employees | postgres | warehouse
with e as (select *, date_part('year', age(date '2024-12-31', hire_date)) as tenure from employees) select count(*) as veterans from e where tenure >= 10;
--# employees | duckdb | warehouse
with e as (select *, 2024 - year(hire_date) as tenure_years from employees) select case when tenure_years < 5 then 'new' when tenure_years < 10 then 'mid' else 'long' end as tenure, count(*) as n, avg(salary) as avg_salary from e group by 1;
--# employees | duckdb | warehouse
with base as (select dept_id, gender, avg(salary) as avg_salary from employees group by 1, 2), pivoted as (select dept_id, max(case when gender = 'f' then avg_salary end) as f, max(case when gender = 'm' then avg_salary end) as m from base group by dept_id) select dept_id, f, m, f / m as ratio from pivoted order by dept_id;

--# visits | duckdb | notebook
SELECT COUNT(*) AS n, AVG(bill) AS mean, STDDEV_SAMP(bill) AS sd, MIN(bill) AS min, QUANTILE_CONT(bill, 0.25) AS q1, MEDIAN(bill) AS q2, QUANTILE_CONT(bill, 0.75) AS q3, MAX(bill) AS max FROM visits;
--# visits | duckdb | notebook
SELECT sex, smoker, AVG(systolic) AS mean_sbp, STDDEV(systolic) / SQRT(COUNT(systolic)) AS sem FROM visits GROUP BY sex, smoker;
--# visits | duckdb | notebook
SELECT CORR(age, systolic) AS r_age, CORR(weight, systolic) AS r_weight, CORR(height, weight) AS r_hw FROM visits;
--# visits | postgres | notebook
SELECT ward, percentile_cont(0.25) WITHIN GROUP (ORDER BY bill) AS q1, percentile_cont(0.5) WITHIN GROUP (ORDER BY bill) AS q2, percentile_cont(0.75) WITHIN GROUP (ORDER BY bill) AS q3 FROM visits GROUP BY ward ORDER BY ward;
--# visits | postgres | notebook
SELECT regr_slope(systolic, age), regr_intercept(systolic, age), regr_r2(systolic, age), regr_count(systolic, age) FROM visits;
--# visits | postgres | notebook
SELECT (AVG(systolic) FILTER (WHERE smoker) - AVG(systolic) FILTER (WHERE NOT smoker)) / STDDEV(systolic) AS cohens_d FROM visits;
--# visits | postgres | notebook
--truth SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 10 AS INT) || CASE WHEN lo = 90 THEN ']' ELSE ')' END, n, m FROM (SELECT floor(age / 10) * 10 AS lo, COUNT(*) AS n, AVG(systolic) AS m FROM visits WHERE age < 100 GROUP BY 1)
SELECT width_bucket(age, 0, 100, 10) AS bucket, count(*) AS n, avg(systolic) AS mean FROM visits WHERE age < 100 GROUP BY bucket ORDER BY bucket;
--# visits | duckdb | notebook
SELECT AVG(LOG10(bill + 1)) AS mean_log, STDDEV(LOG10(bill + 1)) AS sd_log FROM visits;
--# visits | duckdb | notebook
SELECT SQRT(AVG(POWER(systolic - 120, 2))) AS rmse FROM visits;
--# visits | duckdb | notebook
SELECT SUM(bill * age) / SUM(age) AS weighted_mean FROM visits;
--# visits | duckdb | notebook
SELECT AVG(CASE WHEN bill > 2000 THEN 1 ELSE 0 END) AS p_high, SQRT(AVG(CASE WHEN bill > 2000 THEN 1 ELSE 0 END) * (1 - AVG(CASE WHEN bill > 2000 THEN 1 ELSE 0 END)) / COUNT(*)) AS se FROM visits;
--# visits | duckdb | notebook
SELECT smoker, COUNT(*) FILTER (WHERE readmitted = 1) AS cases, COUNT(*) FILTER (WHERE readmitted = 0) AS controls, COUNT(*) FILTER (WHERE readmitted = 1) * 1.0 / NULLIF(COUNT(*) FILTER (WHERE readmitted = 0), 0) AS odds FROM visits GROUP BY smoker;
--# visits | duckdb | notebook
SELECT LN((SUM(CASE WHEN smoker AND readmitted = 1 THEN 1 ELSE 0 END) * SUM(CASE WHEN NOT smoker AND readmitted = 0 THEN 1 ELSE 0 END) * 1.0) / (SUM(CASE WHEN smoker AND readmitted = 0 THEN 1 ELSE 0 END) * SUM(CASE WHEN NOT smoker AND readmitted = 1 THEN 1 ELSE 0 END))) AS log_or FROM visits;
--# visits | duckdb | notebook
WITH per_patient AS (SELECT patient_id, COUNT(*) AS n_visits, MAX(bill) AS max_bill, AVG(bill) AS mean_bill FROM visits GROUP BY patient_id) SELECT CORR(max_bill, mean_bill) AS r, AVG(max_bill) AS mean_max FROM per_patient;
--# visits | duckdb | notebook
--bounds n_visits=0:10
WITH per_patient AS (SELECT patient_id, COUNT(*) AS n_visits FROM visits GROUP BY patient_id) SELECT AVG(n_visits) AS mean, STDDEV(n_visits) AS sd, MEDIAN(n_visits) AS med FROM per_patient;
--# visits | duckdb | notebook
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(DISTINCT ward) AS wards FROM visits GROUP BY patient_id) WHERE wards > 1;
--# visits | duckdb | notebook
WITH firsts AS (SELECT patient_id, FIRST(bill ORDER BY visit_date) AS first_bill FROM visits GROUP BY patient_id) SELECT AVG(first_bill) FROM firsts;
--# visits | spark | notebook
WITH last_visit AS (SELECT *, row_number() OVER (PARTITION BY patient_id ORDER BY admitted_at DESC) AS rn FROM visits) SELECT ward, count(*) AS n, mean(bill) AS mean_bill FROM last_visit WHERE rn = 1 GROUP BY ward;
--# visits | duckdb | notebook
WITH x AS (SELECT patient_id, visit_date, LAG(visit_date) OVER (PARTITION BY patient_id ORDER BY visit_date) AS previous FROM visits) SELECT COUNT(*) AS within_30 FROM x WHERE date_diff('day', previous, visit_date) <= 30;
--# visits | duckdb | notebook
WITH f AS (SELECT patient_id, MIN(visit_date) AS first_visit, MAX(visit_date) AS last_visit FROM visits GROUP BY patient_id) SELECT COUNT(*) FILTER (WHERE last_visit - first_visit > 180) * 1.0 / COUNT(*) AS long_followed FROM f;
--# visits | duckdb | notebook
WITH f AS (SELECT patient_id, MIN(visit_date) AS first_visit FROM visits GROUP BY patient_id) SELECT date_trunc('quarter', first_visit) AS cohort, COUNT(*) AS n FROM f GROUP BY cohort ORDER BY cohort;
--# visits | duckdb | notebook
SELECT date_trunc('month', visit_date) AS month, AVG(readmitted) AS rate, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month;
--# visits | duckdb | notebook
SELECT NTILE(4) OVER (ORDER BY bill) AS quartile, COUNT(*) AS n FROM visits GROUP BY quartile;
--# visits | duckdb | notebook
SELECT AVG(bill) FROM visits WHERE bill BETWEEN (SELECT QUANTILE_CONT(bill, 0.05) FROM visits) AND (SELECT QUANTILE_CONT(bill, 0.95) FROM visits);
--# visits | duckdb | notebook
SELECT KURTOSIS(bill) FROM visits;
--# visits | duckdb | notebook
SELECT MAD(bill) FROM visits;
--# visits | duckdb | notebook
SELECT ENTROPY(ward) FROM visits;
--# visits | duckdb | notebook
--truth SELECT ward, COUNT(*) FROM visits GROUP BY ward
SELECT HISTOGRAM(ward) FROM visits;
--# visits | duckdb | notebook
SELECT ROUND(weight / POWER(height / 100, 2)) AS bmi, COUNT(*) AS n FROM visits WHERE weight / POWER(height / 100, 2) BETWEEN 15 AND 40 GROUP BY 1 ORDER BY 1;
--# visits | duckdb | notebook
SELECT CASE WHEN weight / ((height / 100) * (height / 100)) < 18.5 THEN 'under' WHEN weight / ((height / 100) * (height / 100)) < 25 THEN 'normal' WHEN weight / ((height / 100) * (height / 100)) < 30 THEN 'over' ELSE 'obese' END AS bmi_class, COUNT(*) AS n, AVG(systolic) AS sbp FROM visits GROUP BY bmi_class;
--# visits | duckdb | notebook
SELECT sex, age, COUNT(*) AS n FROM visits WHERE age BETWEEN 60 AND 64 GROUP BY sex, age ORDER BY sex, age;
--# visits | duckdb | notebook
SELECT AVG((bill - 800) / 560) AS z FROM visits WHERE ward IN ('Surgery', 'Oncology');
--# visits | mysql | notebook
SELECT sex, AVG(weight / POW(height / 100, 2)) AS bmi, STDDEV_SAMP(weight) AS sd_weight FROM visits GROUP BY sex;
--# visits | duckdb | notebook
SELECT COVAR_POP(height, weight) / (STDDEV_POP(height) * STDDEV_POP(weight)) AS r FROM visits;
--# employees | duckdb | notebook
SELECT gender, QUANTILE_CONT(salary, 0.1) AS p10, QUANTILE_CONT(salary, 0.9) AS p90, QUANTILE_CONT(salary, 0.9) / QUANTILE_CONT(salary, 0.1) AS p90_p10 FROM employees GROUP BY gender;
--# employees | postgres | notebook
SELECT 1 - AVG(salary) FILTER (WHERE gender = 'f') / NULLIF(AVG(salary) FILTER (WHERE gender = 'm'), 0) AS gender_pay_gap FROM employees;
--# employees | duckdb | notebook
SELECT education, AVG(salary) AS mean, AVG(salary) - 1.96 * STDDEV(salary) / SQRT(COUNT(*)) AS lo, AVG(salary) + 1.96 * STDDEV(salary) / SQRT(COUNT(*)) AS hi FROM employees GROUP BY education ORDER BY mean;
--# employees | tsql | notebook
--truth SELECT education, STDDEV(salary) AS sd, VAR_POP(salary) AS v, COUNT(*) AS n FROM employees GROUP BY education
SELECT education, STDEV(salary) AS sd, VARP(salary) AS v, COUNT(*) AS n FROM employees GROUP BY education;
--# employees | bigquery | notebook
SELECT gender, CORR(age, salary) AS r, STDDEV(salary) AS sd, APPROX_QUANTILES(salary, 4)[OFFSET(2)] AS median FROM employees GROUP BY gender;
--# employees | duckdb | notebook
SELECT performance, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS p, SUM(COUNT(*)) OVER (ORDER BY performance) * 1.0 / SUM(COUNT(*)) OVER () AS cdf FROM employees GROUP BY performance ORDER BY performance;
--# orders | duckdb | notebook
WITH totals AS (SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id) SELECT COUNT(*) FROM totals WHERE total > 500;

--# orders | postgres | fresh
SELECT "public"."orders"."channel" AS "channel", DATE_TRUNC('year', "public"."orders"."order_date") AS "order_date", AVG("public"."orders"."amount") AS "avg" FROM "public"."orders" WHERE "public"."orders"."amount" > 10 GROUP BY "public"."orders"."channel", DATE_TRUNC('year', "public"."orders"."order_date") ORDER BY "public"."orders"."channel" ASC;
--# orders | postgres | fresh
SELECT "source"."order_date" AS "order_date", AVG("source"."sum") AS "avg" FROM (SELECT DATE_TRUNC('month', "orders"."order_date") AS "order_date", "orders"."country" AS "country", SUM("orders"."amount") AS "sum" FROM "orders" GROUP BY DATE_TRUNC('month', "orders"."order_date"), "orders"."country") AS "source" GROUP BY "source"."order_date" ORDER BY "source"."order_date" ASC;
--# orders | postgres | fresh
SELECT COUNT(DISTINCT "orders"."customer_id") AS "count" FROM "orders" INNER JOIN "products" AS "p" ON "orders"."product_id" = "p"."product_id" WHERE "p"."category" = 'books';
--# orders | mysql | fresh
SELECT COUNT(*) AS total, SUM(status = 'paid') AS paid, ROUND(100 * SUM(status = 'paid') / COUNT(*), 2) AS pct FROM orders;
--# orders | mysql | fresh
SELECT MONTHNAME(order_date) AS m, SUM(amount) AS s FROM orders WHERE YEAR(order_date) = 2024 GROUP BY MONTHNAME(order_date);
--# orders | bigquery | fresh
WITH t AS (SELECT customer_id, SUM(amount) AS total FROM `orders` GROUP BY customer_id) SELECT COUNTIF(total > 500) / COUNT(*) AS share_big FROM t;
--# orders | bigquery | fresh
SELECT status, APPROX_QUANTILES(amount, 100)[OFFSET(90)] AS p90 FROM orders GROUP BY status;
--# orders | tsql | fresh
SELECT channel, SUM(CASE WHEN status = 'paid' THEN amount ELSE 0 END) AS paid, SUM(CASE WHEN status = 'refunded' THEN amount ELSE 0 END) AS refunded FROM dbo.orders GROUP BY channel;
--# orders | tsql | fresh
WITH m AS (SELECT FORMAT(order_date, 'yyyy-MM') AS ym, SUM(amount) AS revenue FROM orders GROUP BY FORMAT(order_date, 'yyyy-MM')) SELECT ym, revenue, LAG(revenue) OVER (ORDER BY ym) AS prev FROM m ORDER BY ym;
--# orders | spark | fresh
SELECT country, collect_set(channel) FROM orders GROUP BY country;
--# orders | spark | fresh
SELECT year(order_date) AS y, quarter(order_date) AS q, count(distinct customer_id) AS c FROM orders GROUP BY year(order_date), quarter(order_date) ORDER BY y, q;
--# orders | duckdb | fresh
with base as (select date_trunc('month', order_date) as month, sum(amount) as revenue, count(*) as n from orders group by 1) select month, revenue, avg(revenue) over (order by month rows between 2 preceding and current row) as ma3 from base order by month;
--# orders | duckdb | fresh
with rfm as (select customer_id, max(order_date) as last_order, count(*) as frequency, sum(amount) as monetary from orders group by customer_id) select case when last_order >= date '2024-10-01' then 'active' when last_order >= date '2024-01-01' then 'lapsing' else 'lost' end as segment, count(*) as customers from rfm group by 1 order by 1;
--# orders | duckdb | fresh
with o as (select * from orders), p as (select * from products), joined as (select o.*, p.category, p.price as list_price from o left join p on o.product_id = p.product_id) select category, count(*) as n, avg(unit_price / list_price) as ratio from joined group by category;
--# orders | duckdb | fresh
with o as (select *, row_number() over (partition by customer_id order by created_at) as rn from orders), first_o as (select customer_id, country as first_country from o where rn = 1) select first_country, count(*) as customers from first_o group by 1 order by 2 desc;
--# orders | duckdb | fresh
select country, n, n - avg(n) over () as vs_mean from (select country, count(*) as n from orders group by country) order by vs_mean desc;
--# orders | duckdb | fresh
with t as (select country, sum(amount) as revenue from orders group by country) select country, revenue, sum(revenue) over (order by revenue desc) / sum(revenue) over () as cumulative_share from t order by revenue desc;
--# orders | postgres | fresh
select date_trunc('month', order_date)::date as month, count(*) filter (where channel = 'web') as web, count(*) filter (where channel = 'app') as app from orders group by 1 having count(*) > 20 order by 1;
--# orders | duckdb | fresh
select coalesce(nullif(trim(coupon), ''), 'none') as coupon, count(*) as n from orders group by 1;
--# orders | duckdb | fresh
select status in ('refunded', 'cancelled') as is_bad, count(*) as n, avg(amount) as a from orders group by 1;
--# events | postgres | fresh
WITH first_seen AS (SELECT user_id, MIN(event_time)::date AS d FROM events GROUP BY user_id) SELECT DATE_TRUNC('month', d) AS month, COUNT(*) AS new_users FROM first_seen GROUP BY 1 ORDER BY 1;
--# events | postgres | fresh
WITH u AS (SELECT user_id, BOOL_OR(event = 'purchase') AS bought, BOOL_OR(platform = 'ios') AS ios FROM events GROUP BY user_id) SELECT ios, AVG(CASE WHEN bought THEN 1 ELSE 0 END) AS conversion, COUNT(*) AS users FROM u GROUP BY ios;
--# events | postgres | fresh
SELECT COUNT(DISTINCT CASE WHEN event_time < signup_date + INTERVAL '7 days' THEN user_id END)::float / COUNT(DISTINCT user_id) AS week1 FROM events;
--# events | duckdb | fresh
WITH daily AS (SELECT event_time::DATE AS d, COUNT(DISTINCT user_id) AS dau FROM events WHERE event_time BETWEEN '2024-04-01' AND '2024-04-30 23:59:59' GROUP BY d) SELECT dayname(d) AS wd, AVG(dau) AS avg_dau FROM daily GROUP BY wd;
--# events | duckdb | fresh
SELECT hour(event_time) AS h, event, COUNT(*) AS n FROM events GROUP BY ALL ORDER BY ALL;
--# visits | duckdb | fresh
SELECT ward, AVG(bill) AS m, AVG(bill) - AVG(AVG(bill)) OVER () AS dev FROM visits GROUP BY ward ORDER BY dev DESC;
--# visits | duckdb | fresh
SELECT ward, SUM(bill) AS total, ROUND(100 * SUM(bill) / SUM(SUM(bill)) OVER (), 1) AS pct, RANK() OVER (ORDER BY SUM(bill) DESC) AS r FROM visits GROUP BY ward QUALIFY r <= 3 ORDER BY r;
--# visits | duckdb | fresh
SELECT COUNT(*) FILTER (WHERE age >= 65) AS old, COUNT(*) FILTER (WHERE age < 18) AS young, AVG(age) FILTER (WHERE sex = 'f') AS mean_f FROM visits;
--# visits | duckdb | fresh
WITH p AS (SELECT patient_id, AVG(systolic) AS sbp, MAX(age) AS age FROM visits GROUP BY patient_id) SELECT CORR(sbp, age) AS r, AVG(sbp) AS m, STDDEV(sbp) AS sd FROM p;
--# visits | duckdb | fresh
WITH p AS (SELECT patient_id, SUM(CASE WHEN readmitted = 1 THEN 1 ELSE 0 END) AS readmissions FROM visits GROUP BY patient_id) SELECT COUNT(*) FILTER (WHERE readmissions > 0) * 1.0 / COUNT(*) AS share FROM p;
--# visits | duckdb | fresh
WITH s AS (SELECT AVG(bill) AS mu, STDDEV(bill) AS sigma FROM visits) SELECT COUNT(*) AS outliers FROM visits, s WHERE bill > s.mu + 2 * s.sigma;
--# visits | duckdb | fresh
SELECT sex, AVG(weight) AS w, AVG(height) AS h, AVG(weight) / POWER(AVG(height) / 100, 2) AS bmi_of_means FROM visits GROUP BY sex;
--# visits | duckdb | fresh
SELECT CASE WHEN age < 30 THEN '<30' WHEN age BETWEEN 30 AND 59 THEN '30-59' ELSE '60+' END AS ag, MEDIAN(systolic) AS med, QUANTILE_CONT(systolic, 0.75) - QUANTILE_CONT(systolic, 0.25) AS iqr FROM visits GROUP BY ag ORDER BY ag;
--# visits | duckdb | fresh
SELECT (AVG(age * systolic) - AVG(age) * AVG(systolic)) / (STDDEV_POP(age) * STDDEV_POP(systolic)) AS r FROM visits;
--# visits | duckdb | fresh
SELECT ward, COUNT(*) AS n, COUNT(*) / (SELECT COUNT(*) FROM visits)::FLOAT AS share FROM visits GROUP BY ward HAVING share > 0.1;
--# visits | postgres | fresh
SELECT date_part('month', visit_date) AS m, avg(readmitted::numeric) AS rate FROM visits WHERE visit_date >= '2024-01-01' GROUP BY 1 ORDER BY 1;
--# visits | postgres | fresh
--truth SELECT i.name, count(*) AS n, avg(CASE WHEN v.paid / nullif(v.bill, 0) > 0.5 THEN 1 WHEN v.paid / nullif(v.bill, 0) <= 0.5 THEN 0 END)::int FROM visits v JOIN insurers i USING (insurer) GROUP BY i.name
SELECT i.name, count(*) AS n, avg(v.paid / nullif(v.bill, 0) > 0.5)::int FROM visits v JOIN insurers i USING (insurer) GROUP BY i.name;
--# visits | postgres | fresh
SELECT i.name AS insurer_name, c.region, COUNT(DISTINCT v.patient_id) AS patients FROM visits v JOIN insurers i ON i.insurer = v.insurer LEFT JOIN cities c ON c.city = v.city GROUP BY i.name, c.region ORDER BY patients DESC LIMIT 20;
--# employees | duckdb | fresh
WITH d AS (SELECT dept_id, AVG(salary) AS m FROM employees GROUP BY dept_id) SELECT departments.name, d.m FROM d JOIN departments ON departments.dept_id = d.dept_id WHERE d.m > (SELECT AVG(salary) FROM employees) ORDER BY d.m DESC;
--# employees | duckdb | fresh
SELECT EXTRACT(year FROM hire_date) AS y, COUNT(*) AS hires, SUM(COUNT(*)) OVER (ORDER BY EXTRACT(year FROM hire_date)) AS headcount FROM employees GROUP BY y ORDER BY y;
