"""Faults of the upper layers: tables, engines, session, sources, learn."""

from faults.fault import Fault

ORACLES = "tests/local/test_oracles.py"
BATCHES = "tests/local/test_shuffled_batch.py"
QUESTIONNAIRES = "tests/local/questionnaires/test_questionnaires.py"
TWO = "tests/local/split/test_counting.py"
IN_SERVICES = "tests/curator/test_counters.py"
GIVEN = "tests/tables/test_what_mechanisms_are_given.py"
PART = f"{GIVEN}::test_a_part_costs_its_epsilon_and_no_more"
MANY_ROWS = "tests/tables/test_many_rows.py"
BOUNDED = "tests/tables/test_bounds_on_duckdb.py"
CLAIMED = "tests/tables/test_sensitivity.py"
ONE_BUDGET = "tests/sources/test_one_budget.py"
EPSILON_SLIDER = "tests/notebook/test_epsilon_slider.py"
SEVERAL_FILES = "tests/sources/test_several_files.py"
TOO_MUCH = (
    "tests/engines/test_engine_laws.py"
    "::test_a_unit_that_has_too_much_of_everything_weighs_as_much_as_it_may"
)

TABLES = (
    Fault(
        "found keys get the noise of one group",
        "tables/parts/discovery.py",
        "sensitivity=self.touched)",
        "sensitivity=1)",
        (f"{GIVEN}::test_keys_and_values_cost_epsilon_and_delta_and_no_more",),
    ),
    Fault(
        "each found key gets all of delta",
        "tables/parts/discovery.py",
        "self.delta / self.touched",
        "self.delta",
        (f"{GIVEN}::test_keys_and_values_cost_epsilon_and_delta_and_no_more",),
    ),
    Fault(
        "keys and Gaussian noise each get all of delta",
        "tables/split.py",
        "part_delta = delta / 2 if seeks_keys else delta",
        "part_delta = delta",
        (f"{GIVEN}::test_keys_and_values_cost_epsilon_and_delta_and_no_more",),
    ),
    Fault(
        "choices and Gaussian noise each get all of epsilon",
        "tables/split.py",
        "epsilon=epsilon if alone else epsilon * joint / total * HAIR,",
        "epsilon=epsilon,",
        (f"{GIVEN}::test_gaussian_parts_and_choices_cost_epsilon_and_delta_and_no_more",),
    ),
    Fault(
        "Gaussian noises do not share",
        "tables/noise.py",
        "sigma = root_above((size * unit / weight) ** 2 * total)",
        "sigma = root_above((size * unit / weight) ** 2 * max(weights) ** 2)",
        (f"{GIVEN}::test_gaussian_parts_and_choices_cost_epsilon_and_delta_and_no_more",),
    ),
    Fault(
        "each part gets all of epsilon",
        "tables/split.py",
        "costs = {place: epsilon * share for place, share in enumerate(shares)}",
        "costs = {place: epsilon for place, share in enumerate(shares)}",
        (f"{GIVEN}::test_parts_together_cost_the_epsilon_and_no_more",),
    ),
    Fault(
        "the ends of a quantile are chosen at the value's share",
        "tables/parts/quantiles.py",
        "self._chosen(epsilon * END, cells, aim, bits)",
        "self._chosen(epsilon * VALUE, cells, aim, bits)",
        (f"{GIVEN}::test_ends_that_are_chosen_cost_a_quarter_each",),
    ),
    Fault(
        "the tree of a quantile's ends gets all of epsilon",
        "tables/parts/quantiles.py",
        "pure_noise(self._tree_moved, epsilon * 2 * END,",
        "pure_noise(self._tree_moved, epsilon,",
        (f"{PART}[median]",),
    ),
    Fault(
        "ends of quantiles without a jump have half a band",
        "tables/parts/quantiles.py",
        "            confidence=confidence,\n            after_jumps",
        "            confidence=one_sided(confidence),\n            after_jumps",
        (
            "tests/tables/test_quantiles.py"
            "::test_few_equal_rows_in_the_outermost_cell_are_held_as_often_as_said",
        ),
    ),
    Fault(
        "a tree moves as one of its levels",
        "tables/parts/quantiles.py",
        "return Moved(tree.levels * level.l1, tree.levels * level.l2_squared)",
        "return level",
        (f"{PART}[quartiles]",),
    ),
    Fault(
        "counts of top-k have the noise of one row",
        "tables/parts/candidates.py",
        "shares_move(1, self.unit).times(lattice)",
        "shares_move(1, self.unit)",
        (f"{PART}[top]",),
    ),
    Fault(
        "top-k is monotone under replace",
        "tables/parts/candidates.py",
        "monotone=not self.unit.replace,",
        "monotone=True,",
        (f"{PART}[top]",),
    ),
    Fault(
        "the order of top-k and its counts each get all of epsilon",
        "tables/parts/candidates.py",
        ".times(lattice), epsilon * HALF, lattice)",
        ".times(lattice), epsilon, lattice)",
        (f"{PART}[top]",),
    ),
    Fault(
        "each private bound gets all of epsilon",
        "tables/parts/candidates.py",
        "return Exponential(epsilon=epsilon * HALF, sensitivity=moves)",
        "return Exponential(epsilon=epsilon, sensitivity=moves)",
        (f"{PART}[bounds]",),
    ),
    Fault(
        "the span of values above 0",
        "tables/sensitivity.py",
        "span = (max(high, 0) - min(low, 0)) * k",
        "span = (high - low) * k",
        (f"{PART}[sum above 0]",),
    ),
    Fault(
        "shares move under replace as one unit does",
        "tables/sensitivity.py",
        "    times = 2 if unit.replace else 1\n    filled",
        "    times = 1\n    filled",
        (f"{PART}[mean]",),
    ),
    Fault(
        "ranks in groups move under replace as one unit does",
        "tables/sensitivity.py",
        "return Fraction(rows) if unit.keys == 1 else 2 * rows * largest",
        "return Fraction(rows) if unit.keys == 1 else rows * largest",
        (f"{PART}[median]",),
    ),
    Fault(
        "candidates in groups move under replace as one unit does",
        "tables/sensitivity.py",
        "return 2 * rows if unit.replace and unit.keys != 1 else rows",
        "return rows",
        (f"{PART}[top]",),
    ),
    Fault(
        "units count in one group",
        "tables/sensitivity.py",
        "each = Contribution(unit.groups, 1, unit.groups,",
        "each = Contribution(1, 1, 1,",
        (f"{PART}[units]",),
    ),
    Fault(
        "rows of one group only",
        "tables/sensitivity.py",
        "rows = groups * bounding.max_rows",
        "rows = bounding.max_rows",
        (f"{PART}[count]",),
    ),
    Fault(
        "vectors beside each other move as the largest",
        "tables/sensitivity.py",
        "return Moved(sum(moved.l1 for moved in each),",
        "return Moved(max(moved.l1 for moved in each),",
        (f"{PART}[plane]",),
    ),
    Fault(
        "the number of a sum's rows is free",
        "tables/parts/vectors.py",
        "return together(total, number_moves(0, self._row, self.unit))",
        "return total",
        (f"{PART}[sum]",),
    ),
    Fault(
        "sums with Gaussian noise end at 2^53",
        "tables/noise.py",
        "exponent = min(max(0, grid_exponent(self._size) + APART), EXACT_BITS)",
        "exponent = 0",
        (f"{MANY_ROWS}::test_sums_of_billions_of_rows_are_not_clamped",),
    ),
    Fault(
        "large Gaussian sums are rounded before the noise",
        "tables/noise.py",
        "+ APART), EXACT_BITS)",
        "+ APART), 99)",
        (f"{MANY_ROWS}::test_what_gaussian_noise_is_added_to_moves_as_far_as_the_number_does",),
    ),
    Fault(
        "what the noise's grid leaves of a number is told",
        "tables/noise.py",
        "near = vector % apart",
        "near = vector * 0",
        (f"{MANY_ROWS}::test_gaussian_noise_is_added_to_the_exact_number_whatever_its_size",),
    ),
    Fault(
        "intervals take places for values",
        "tables/grid.py",
        "return float(-self.past * self.step), float(self.short * self.step)",
        "return 0.0, 0.0",
        (f"{MANY_ROWS}::test_means_and_sums_are_covered_where_all_values_are_rounded_alike",),
    ),
    Fault(
        "spreads and lines take places for values",
        "tables/grid.py",
        "return float((self.short + self.past) * self.step / 2)",
        "return 0.0",
        (f"{MANY_ROWS}::test_spreads_and_lines_are_covered_where_one_kind_of_rows_is_rounded",),
    ),
    Fault(
        "parts of a formula are as sure as the formula",
        "tables/formula_answers.py",
        "return confidence if parts <= 1 else",
        "return confidence if parts <= 9 else",
        ("tests/tables/test_formulas.py",),
    ),
)

ENGINES = (
    Fault(
        "clipped counts are not clipped",
        "engines/core/statements.py",
        'syntax.call("LEAST", column, syntax.whole(1))',
        "column",
        (BOUNDED,),
    ),
    Fault(
        "clipped rows count as many as they are",
        "engines/core/statements.py",
        "case measures.Rows() if self._clipped:\n                return syntax.whole(1)",
        "case measures.Rows() if self._clipped:\n                return column",
        (BOUNDED,),
    ),
    Fault(
        "totals are clipped from below only",
        "engines/core/statements.py",
        "syntax.case(below, above, otherwise=total)",
        "syntax.case(below, otherwise=total)",
        (BOUNDED,),
    ),
    Fault(
        "a row more than max_rows",
        "engines/core/statements.py",
        "self._weigher.share(number, self._limit or 0)",
        "self._weigher.share(number, (self._limit or 0) + 1)",
        ("tests/engines/test_engine_laws.py",),
    ),
    Fault(
        "a unit's rows in a group are not bounded",
        "engines/core/statements.py",
        "weights[self._row_weight] = self._weigher.share(rows, self._limit)",
        "weights[self._row_weight] = self._weigher.share(syntax.whole(1), self._limit)",
        (BOUNDED,),
    ),
    Fault(
        "a partner lends two rows",
        "engines/core/one_row.py",
        "        1,\n        unit=rows.unit,",
        "        2,\n        unit=rows.unit,",
        ("tests/engines/test_partners.py",),
    ),
    Fault(
        "a model is trained on rows that are the first in each place",
        "engines/core/one_row.py",
        "unit=rows.unit,",
        "unit=rows.unit,\n        by=values,",
        ("tests/engines/test_training_rows.py",),
    ),
)

WEIGHTS = (
    Fault(
        "weights are a part too large",
        "engines/core/bounding.py",
        "part = self._dialect.quotient(above, number.copy())",
        "part = self._dialect.quotient("
        "syntax.operation(exp.Add, above, number.copy()), number.copy())",
        (TOO_MUCH,),
    ),
    Fault(
        "units with few rows weigh more than their rows",
        "engines/core/bounding.py",
        "return syntax.case((fits, syntax.whole(self._lattice)), otherwise=part)",
        "return part",
        ("tests/engines/test_engine_laws.py",),
    ),
    Fault(
        "rows without a unit count for those that have one",
        "engines/duckdb/row_counts.py",
        "    counted = _find_counted(missing, passes)\n",
        "    counted = None if passes is None else passes\n",
        ("tests/engines/test_row_counts.py",),
    ),
    Fault(
        "groups weigh roots where the L1 norm counts",
        "engines/core/statements.py",
        "self._weigher.share(number, limit, self._scope.norm)",
        "self._weigher.share(number, limit, 2)",
        (TOO_MUCH,),
    ),
    Fault(
        "rows of a unit are counted in each group by itself",
        "engines/core/statements.py",
        "number = syntax.window(exp.Count(this=exp.Star()), partition=[self._rows.unit])",
        "number = syntax.window(\n            exp.Count(this=exp.Star()),"
        " partition=[self._rows.unit, *self._key_columns]\n        )",
        (TOO_MUCH,),
    ),
    Fault(
        "rows are counted before the filter",
        "engines/core/statements.py",
        "rows = self._rows.select(with_unit=True, only=only)",
        "rows = self._rows.select(with_unit=True, only=only, filtered=False)",
        ("tests/engines/test_engine_laws.py::test_all_measures_are_those_of_a_slow_engine",),
    ),
    Fault(
        "unlisted groups take a share of the listed ones",
        "engines/core/statements.py",
        "self._with_weights(self._listed(self._pairs()))",
        "self._listed(self._with_weights(self._pairs()))",
        ("tests/engines/test_odd_tables.py",),
    ),
    Fault(
        "different values are not cut",
        "engines/core/statements.py",
        "return values if rows is None else self._keep_first(values, rows, parts=[*keys, cell])",
        "return values",
        (
            "tests/engines/test_engine_laws.py"
            "::test_no_unit_counts_for_more_different_values_than_it_may",
        ),
    ),
    Fault(
        "units are in any number of groups when keys are found",
        "engines/core/statements.py",
        "if self._has_unit and limit is not None and not self._tables.once:",
        "if self._has_unit and limit is None:",
        ("tests/engines/test_odd_tables.py",),
    ),
    Fault(
        "a cut depends on the order of rows",
        "engines/core/bounding.py",
        "order = [dialect.digest([named_unit, *by, *parts]), *(part.sql for part in parts)]",
        "order = [dialect.digest([named_unit])]",
        ("tests/engines/test_odd_tables.py",),
    ),
    Fault(
        "sums of both signs move as for groups that are chosen",
        "tables/sensitivity.py",
        "if unit.roots and low < 0 < high:",
        "if low > 0 > high:",
        (f"{CLAIMED}::test_sums_of_both_signs_are_covered_where_groups_weigh_roots",),
    ),
    Fault(
        "rounding moves no more groups than a choice of rows would",
        "tables/sensitivity.py",
        "return keys if self.lattice > 1 else min(",
        "return min(",
        (
            f"{CLAIMED}"
            "::test_rounding_moves_every_group_that_a_weighed_unit_touches_and_the_claim_knows",
        ),
    ),
    Fault(
        "groups weigh roots beside choices and Laplace noise",
        "tables/split.py",
        "return 2 if gaussian and all(gaussian) and not self.epsilons else 1",
        "return 2",
        (f"{CLAIMED}::test_groups_weigh_roots_only_where_all_noise_is_gaussian",),
    ),
    Fault(
        "parts of rows get the noise of rows",
        "tables/sensitivity.py",
        ".times(unit.lattice if lattice is None else lattice)",
        "",
        (f"{CLAIMED}::test_no_neighbour_moves_a_measure_further_than_claimed",),
    ),
)

SESSION = (
    Fault(
        "a Kelvin sign is a k in ORDER BY",
        "sql/names.py",
        'if identifier.quoted or normalize("NFKC", name) != name:',
        "if identifier.quoted:",
        ("tests/sql/test_arranging.py",),
    ),
    Fault(
        "whether bounds and answer fit is asked of the last trial alone",
        "session/steps/in_steps.py",
        "for trial in self.trials]\n",
        "for trial in self.trials[-1:]]\n",
        ("tests/session/test_bounds_purchase.py",),
    ),
    Fault(
        "the partner is not charged",
        "session/joins/private_joins.py",
        "return [table.partner(name) for name in sorted(joins)]",
        "return [table.partner(name) for name in sorted(joins)][:0]",
        (
            "tests/session/test_partners.py"
            "::test_both_data_sets_are_charged_the_whole_price_and_both_are_named",
        ),
    ),
    Fault(
        "a question is named without its price",
        "session/pricing.py",
        "{name: str(value) for name, value in price.items()}",
        "{name: str(value) for name, value in price.items() if name != 'epsilon'}",
        ("tests/session/test_releasing.py",),
    ),
    Fault(
        "a batch costs as much as its first question",
        "session/batch.py",
        "choose_curve([question.terms.privacy for question in questions], state)",
        "choose_curve([question.terms.privacy for question in questions][:1], state)",
        ("tests/session/test_batches.py",),
    ),
)

LEARN = (
    Fault(
        "a fit is charged after it was made",
        "learn/training.py",
        "        charge = account.price(",
        "        uncharged_work(fitting)\n        charge = account.price(",
        ("tests/learn/test_training.py::test_a_fit_over_budget_sees_no_data",),
    ),
    Fault(
        "the solver's slack is left out of output perturbation",
        "learn/convex/output.py",
        "return (lipschitz + 2 * tolerance) / strength",
        "return lipschitz / strength",
        ("tests/learn/test_output.py::test_the_noise_is_for_what_the_solver_leaves_open_too",),
    ),
    Fault(
        "steps do not share their noise",
        "learn/convex/gradient.py",
        "ball(steps / share).sqrt()",
        "ball(1 / share).sqrt()",
        ("tests/learn/test_gradient.py",),
    ),
    Fault(
        "the count of rows is free",
        "learn/convex/gradient.py",
        "1 - COUNT_SHARE",
        "Fraction(1)",
        ("tests/learn/test_gradient.py",),
    ),
    Fault(
        "measures that are asked again are paid once",
        "learn/noisy_sums/sums.py",
        "sum(other.weight * other.times for other in self.measures)",
        "sum(other.weight for other in self.measures)",
        ("tests/learn/test_sums.py",),
    ),
    Fault(
        "rows are rounded to the nearest step, beyond their norm",
        "learn/noisy_sums/wholes.py",
        "return np.trunc(shrunk * 2.0**BITS)",
        "return np.rint(shrunk * 2.0**BITS)",
        ("tests/learn/test_wholes.py",),
    ),
    Fault(
        "squares of a box move as one of them",
        "learn/noisy_sums/sums.py",
        "return Measure(name, width * UNIT**degree,",
        "return Measure(name, UNIT**degree,",
        ("tests/learn/test_naive_bayes.py",),
    ),
    Fault(
        "scores of a search get all of epsilon",
        "learn/searching/search_plan.py",
        "half, steps = self.epsilon / 2, self.score.steps",
        "half, steps = self.epsilon, self.score.steps",
        ("tests/learn/test_search.py",),
    ),
    Fault(
        "charged after reading",
        "ledger/charging.py",
        """    began, paid = monotonic(), _charge_all(payers, charge, repeats=repeats)
    try:
        outcome = work.at_step(began, lambda: _outcome(work))
""",
        """    began = monotonic()
    try:
        outcome = work.at_step(began, lambda: _outcome(work))
        paid = _charge_all(payers, charge, repeats=repeats)
""",
        (
            "tests/session/test_releasing.py::test_data_is_touched_only_after_the_charge",
            "tests/ledger/test_charging.py",
        ),
    ),
    Fault(
        "what was made is told and not settled",
        "ledger/charging.py",
        "outcome = _settle(payer, reservation, outcome, goes_on=goes_on)",
        "pass",
        ("tests/ledger/test_charging.py",),
    ),
    Fault(
        "the second payer is not frozen",
        "ledger/charging.py",
        "            errors.append(error)\n    if errors:",
        "            raise\n    if errors:",
        ("tests/ledger/test_charging.py",),
    ),
    Fault(
        "nobody claims the question",
        "ledger/charging.py",
        "            stack.enter_context(claim)",
        "            del claim",
        ("tests/ledger/test_charging.py",),
    ),
    Fault(
        "a server that is lost when rows were read is said to be away",
        "session/pricing.py",
        """    def make(self) -> Json:
        releases = [_measure(question) for question in self.questions]
""",
        """    harmless = (Exception,)

    def make(self) -> Json:
        releases = list[Release]()
        for question in self.questions:
            self.reach(paid=True)
            releases.append(_measure(question))
""",
        ("tests/session/test_source_away.py",),
    ),
    Fault(
        "charged before it is known that the server answers",
        "ledger/charging.py",
        "    work.reach(paid=False)\n",
        "",
        ("tests/session/test_source_away.py",),
    ),
    Fault(
        "answers are stored before their time step",
        "session/time_steps.py",
        "sleep(until_the_next_step(now() - began, asker.time_step_seconds))",
        "pass",
        (
            "tests/curator/test_time_steps.py::test_nothing_is_stored_between_the_charge_and_the_step",
        ),
    ),
    Fault(
        "the unit may meet a constant",
        "plans/unnamed.py",
        "    if name in units:\n        raise",
        "    if name in units and False:\n        raise",
        ("tests/plans/test_unnamed.py::test_the_unit_column_meets_no_constant_wherever_it_stands",),
    ),
)

SOURCES = (
    Fault(
        "a table on Spark has a budget for each way to write its letters",
        "sources/spark_names.py",
        "return first.lower(), second.lower(), third.lower()",
        "return first, second, third",
        (ONE_BUDGET,),
    ),
    Fault(
        "a name on Spark may have blanks",
        "sources/spark_names.py",
        "while (part := PART.match(written, at)) is not None:",
        "while (part := PART.match(written := written.replace(' ', ''), at)) is not None:",
        (ONE_BUDGET,),
    ),
    Fault(
        "a link to a file is another table",
        "sources/files.py",
        "        return path.resolve()\n",
        "        return path\n",
        (ONE_BUDGET,),
    ),
    Fault(
        "the ledger of a link lies beside the link",
        "sources/places.py",
        "path_of(data_path).resolve()",
        "path_of(data_path).absolute()",
        (ONE_BUDGET,),
    ),
    Fault(
        "an address of a file is another file",
        "sources/schemes.py",
        'OF_FILES.sub("", written)',
        "written",
        (ONE_BUDGET,),
    ),
    Fault(
        "a compressed file is another table than the plain one",
        "sources/files.py",
        "return inner if packed else path.suffix.lower()",
        "return path.suffix.lower()",
        (ONE_BUDGET,),
    ),
    Fault(
        "a folder needs no name",
        "sources/resolve.py",
        "needs_name=bool(fspath(given)) and path.is_dir()",
        "needs_name=False",
        (SEVERAL_FILES,),
    ),
    Fault(
        "a list of one file is another table than the file",
        "sources/resolve.py",
        "if len(paths) == 1:",
        "if not paths:",
        (SEVERAL_FILES,),
    ),
    Fault(
        "a byte without a letter is a letter",
        "engines/duckdb/text_files.py",
        '"surrogateescape").encode(UTF8',
        '"replace").encode(UTF8',
        ("tests/engines/test_text_files.py",),
    ),
    Fault(
        "one line of JSON can stop the reading of all",
        "engines/duckdb/json_lines.py",
        "except (ValueError, RecursionError):",
        "except RecursionError:",
        ("tests/engines/test_loaded_files.py",),
    ),
    Fault(
        "a formula counts, whatever rows it looks at",
        "engines/duckdb/excel_files.py",
        "(cell.data_type == FORMULA and not formulas)",
        "False",
        ("tests/engines/test_excel_files.py",),
    ),
    Fault(
        "a stream needs nobody's word",
        "engines/frames/streams.py",
        "    if not vouched:\n",
        "    if not vouched and False:\n",
        ("tests/session/test_streams.py",),
    ),
    Fault(
        "a folder and a pattern of its files have two ledgers",
        "sources/places.py",
        "return other if other.is_file() and other != source.ledger_file else None",
        "return None",
        (SEVERAL_FILES,),
    ),
    Fault(
        "a table of the public schema is another one with it",
        "sources/postgres_address.py",
        "place = (PUBLIC, parts[0]) if len(parts) == 1 else",
        "place = (parts[0], parts[0]) if len(parts) == 1 else",
        (ONE_BUDGET,),
    ),
    Fault(
        "a database is called what its address spells",
        "sources/postgres_address.py",
        'return PostgresAddress(server, given["dbname"],',
        "return PostgresAddress(server, database,",
        (ONE_BUDGET,),
    ),
    Fault(
        "a host in large letters is another server",
        "sources/postgres_address.py",
        'service=")) else host.lower()',
        'service=")) else host',
        (ONE_BUDGET,),
    ),
    Fault(
        "tables of two schemas of a file are one",
        "sources/resolve.py",
        '("file", recorded, *(place or ())),',
        '("file", recorded, *(place or ())[1:]),',
        (ONE_BUDGET,),
    ),
    Fault(
        "databases of two servers are one",
        "sources/resolve.py",
        '("postgresql", where, address.database, *names),',
        '("postgresql", "", address.database, *names),',
        (ONE_BUDGET,),
    ),
    Fault(
        "the plain schema file belongs to every table of a file",
        "sources/places.py",
        "return plain.exists() and (",
        "return plain.exists() or (",
        (ONE_BUDGET,),
    ),
    Fault(
        "two tables of one name are not told apart",
        "sources/recorded.py",
        "    if same and (declared or source.recorded_as != FRAME):\n",
        "    if True:\n",
        ("tests/sources/test_recorded.py",),
    ),
    Fault(
        "one table under two names is joined with itself",
        "session/open_table.py",
        "isinstance(other, OpenTable) and same_table(self.origin, other.origin)\n",
        "False\n",
        ("tests/session/test_partners.py",),
    ),
    Fault(
        "a retired table is registered anew",
        "curator/data_sets/data_store.py",
        'gone = {} if row.external else {"file": None}',
        'gone = {"file": None}',
        ("tests/curator/test_known_sources.py",),
    ),
    Fault(
        "a service takes one table under two names",
        "curator/data_sets/external_sources.py",
        "return same_table(known, source) or _is_second_name(",
        "return _is_second_name(",
        ("tests/curator/test_known_sources.py",),
    ),
    Fault(
        "a schema file of a file names another table",
        "sources/resolve.py",
        "data = _read_data(data_of(fspath(file)), table, look)",
        "data = _read_data(file, table, look)",
        (ONE_BUDGET,),
    ),
)

SLIDER: tuple[Fault, ...] = (
    Fault(
        "a press is taken at any price",
        "notebook/epsilon_slider.py",
        'if pressed == self.shown["price"] and self.state == AskingState.READY:',
        "if self.state == AskingState.READY:",
        (EPSILON_SLIDER,),
    ),
    Fault(
        "every press asks",
        "notebook/epsilon_slider.py",
        'if pressed == self.shown["price"] and self.state == AskingState.READY:',
        'if pressed == self.shown["price"]:',
        (EPSILON_SLIDER,),
    ),
    Fault(
        "the price on the button is not that of the slider",
        "notebook/epsilon_slider.py",
        "            self.shown = self._preview(self.epsilon)\n",
        "",
        (EPSILON_SLIDER,),
    ),
    Fault(
        "a clone is told to ask an index",
        "errors/installing.py",
        '    if "dir_info" in origin:\n',
        "    if False:\n",
        ("tests/errors/test_installing.py",),
    ),
)

LOCAL: tuple[Fault, ...] = (
    Fault(
        "local: the likelihood ratio is rounded up",
        "local/ratios.py",
        "return Fraction(floor_scaled(lambda: ball(epsilon).exp(), RATIO_BITS), 1 << RATIO_BITS)",
        "return Fraction(floor_scaled(lambda: ball(epsilon).exp(), 40) + 1, 1 << RATIO_BITS)",
        (f"{ORACLES}::test_no_report_is_more_than_e_to_the_epsilon_times_as_likely",),
    ),
    Fault(
        "local: sets without the true value are one too small",
        "local/frequencies/subset_selection.py",
        "others, more = self.size - 1, self.chosen - holds",
        "others, more = self.size - 1, self.chosen - 1",
        (f"{ORACLES}::test_reports_follow_their_law",),
    ),
    Fault(
        "local: the value whose place a set takes is lost",
        "local/frequencies/subset_selection.py",
        "flags[:, -1] = flags[rows, indices] & (indices != flags.shape[1] - 1)",
        "flags[:, -1] = False",
        (f"{ORACLES}::test_sets_that_are_not_listed_are_drawn_as_evenly_as_those_that_are",),
    ),
    Fault(
        "local: hashes are taken to collide once in g",
        "local/frequencies/local_hashing.py",
        "return SupportChances(p, q + (p - q) * family.collision)",
        "return SupportChances(p, q + (p - q) / family.hashes)",
        (f"{ORACLES}::test_a_report_supports_values_as_often_as_stated",),
    ),
    Fault(
        "local: a report in the window is drawn outside of it, too",
        "local/numeric/window_law.py",
        "reports[near] = values[near] + sample_belows(self.width, near.size, bits)",
        "reports[near] = values[near] + sample_belows(self.width + 1, near.size, bits)",
        ("tests/local/test_numbers.py::test_reports_in_a_window_follow_their_law",),
    ),
    Fault(
        "local: a lie may be the truth",
        "local/frequencies/k_ary_response.py",
        "others = indices[lies] + 1 + sample_belows(size - 1, lies.size, bits)",
        "others = indices[lies] + sample_belows(size, lies.size, bits)",
        (f"{ORACLES}::test_reports_follow_their_law",),
    ),
    Fault(
        "local: the second level keeps as many bits as both levels should",
        "local/frequencies/memoised.py",
        "return (both + first - 1) / (2 * first - 1)",
        "return both",
        (
            "tests/local/test_memoised.py::test_one_report_has_the_law_of_a_symmetric_unary_encoding",
        ),
    ),
    Fault(
        "shuffling: values are merged onto the grid without their means",
        "local/shuffling/positive_sums.py",
        "more = weight * (value - centre - point) / point",
        "more = Fraction(0) * weight * value",
        (f"{BATCHES}::test_spreading_and_merging_are_larger_and_smaller_in_convex_order",),
    ),
    Fault(
        "shuffling: an uncovered report hides, too",
        "local/frequencies/subset_selection.py",
        "each = 1 / (comb(d - 1, k - 1) * self.ratio + comb(d - 1, k))",
        "each = Fraction(1, comb(d, k))",
        (f"{BATCHES}::test_patterns_are_those_of_the_exact_law",),
    ),
    Fault(
        "shuffling: the power of e is rounded up for the upper bound",
        "local/shuffling/shuffled_batch.py",
        "law = gain_law(self.oracle.blanket_atoms(), _power_below(epsilon))",
        "law = gain_law(self.oracle.blanket_atoms(), _power_below(epsilon * 2))",
        (f"{BATCHES}::test_bounds_hold_the_worst_of_all_small_batches",),
    ),
)

SURVEYS: tuple[Fault, ...] = (
    Fault(
        "surveys: each question gets all of epsilon",
        "local/questionnaires/questions.py",
        "return self.epsilon / self.asked_of_each",
        "return self.epsilon",
        (
            f"{QUESTIONNAIRES}"
            "::test_all_reports_of_one_person_together_are_at_most_the_typed_epsilon_apart",
        ),
    ),
    Fault(
        "surveys: a person reports on more than the question that was drawn",
        "local/questionnaires/results.py",
        "if len(given) != survey.asked_of_each:",
        "if len(given) > len(survey.questions):",
        (
            f"{QUESTIONNAIRES}"
            "::test_of_a_sampled_person_one_report_is_read_and_of_others_one_for_each_question",
        ),
    ),
    Fault(
        "surveys: a browser's numbers may be too large to be drawn",
        "local/questionnaires/questions.py",
        "if read_epsilon(epsilon) > MOST_EPSILON_EACH:",
        "if read_epsilon(epsilon) > 20:",
        (f"{QUESTIONNAIRES}::test_what_would_harm_a_store_a_page_or_a_screen_is_refused",),
    ),
    Fault(
        "two counters: a choice moves one total, not two",
        "local/split/counting.py",
        "return 2  # one choice goes down, another up",
        "return 1",
        (f"{TWO}::test_each_counter_alone_keeps_the_promise_when_one_answer_is_replaced",),
    ),
    Fault(
        "two counters: a report may come again",
        "local/split/counting.py",
        "self._seen.add(nonce)",
        "self._seen.discard(nonce)",
        (f"{TWO}::test_a_report_counts_once_and_a_counter_tells_once",),
    ),
    Fault(
        "two counters: a proof's polynomial is not looked at",
        "local/split/proofs.py",
        "return check == 0 and circuit.gadget(inputs) == output",
        "return check == 0",
        ("tests/local/split/test_prio3.py::test_changing_any_byte_of_a_report_makes_it_refused",),
    ),
    Fault(
        "two counters: a report that is named twice is added twice",
        "curator/surveys/counters.py",
        "set(map(_bytes, nonces))",
        "list(map(_bytes, nonces))",
        (f"{IN_SERVICES}::test_a_report_that_is_named_in_two_spellings_is_added_once",),
    ),
    Fault(
        "two counters: a half that counts is replaced by a later one",
        "curator/surveys/counters.py",
        "elif before.shares is None:",
        "else:",
        (f"{IN_SERVICES}::test_of_all_reports_with_one_name_one_counts",),
    ),
    Fault(
        "two counters: shares that a reader kept in the log stay there",
        "curator/surveys/counters.py",
        "        self._database.overwrite()\n        return loads(totals)\n",
        "        return loads(totals)\n",
        (f"{IN_SERVICES}::test_shares_that_a_reader_kept_in_the_log_go_with_the_next_question",),
    ),
    Fault(
        "two counters: what waits stays when the total is told",
        "curator/surveys/counters.py",
        "(SECOND, WAITING) if place == SECOND else (FIRST,)",
        "(place,)",
        (f"{IN_SERVICES}::test_what_waits_goes_with_the_shares",),
    ),
)
FAULTS: tuple[Fault, ...] = (
    TABLES + ENGINES + WEIGHTS + SESSION + SOURCES + LEARN + SLIDER + LOCAL + SURVEYS
)
