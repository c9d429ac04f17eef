"""Faults of the bottom layers: exact, randomness, privacy, mechanisms, ledger, audit."""

from faults.fault import Fault

CHARGES = "tests/privacy/loss/test_charges.py"
IN_ORDER = "tests/privacy/test_bounds_in_order.py"
LAWS_BELOW = "tests/privacy/loss/test_laws_below.py"
EXACT_CURVES = "tests/privacy/test_exact_curves.py"
FILTERS = "tests/privacy/test_filters.py"
BULK = "tests/randomness/test_bulk.py"
LAWS = "tests/randomness/test_laws.py"
KEYED = "tests/randomness/test_keyed.py"
VERIFICATION = "tests/ledger/test_verification.py"

CURVES: tuple[Fault, ...] = (
    Fault(
        "bounds that contradict each other leave",
        "privacy/curve.py",
        "    if lower <= upper:\n        return lower, upper\n",
        "    if upper >= 0:\n        return lower, upper\n",
        (f"{IN_ORDER}::test_bounds_that_contradict_each_other_do_not_leave",),
    ),
    Fault(
        "a search asks the accountant again that gave up",
        "privacy/composition.py",
        "return self.least_epsilon(lambda at: _without_losses(self.parts, at), delta)",
        "return Privacy._epsilon_above(self, delta)",
        (f"{IN_ORDER}::test_a_search_does_not_ask_an_accountant_again_that_gave_up",),
    ),
    Fault(
        "lists that the accountant cannot hold are not composed as zCDP",
        "privacy/composition.py",
        "return _best_list((parts, _as_zcdp(parts)), epsilon)",
        "return _best_list((parts,), epsilon)",
        (
            f"{IN_ORDER}::test_so_many_runs_that_errors_of_floats_leave_nothing_known_are_composed_by_zcdp",
        ),
    ),
    Fault(
        "Gaussian parts are merged without their counts",
        "privacy/composition.py",
        "squares += count * part.mu_squared",
        "squares += part.mu_squared",
        (
            "tests/privacy/test_composition.py::test_gaussians_merge_exactly_and_mu_is_never_rounded",
        ),
    ),
    Fault(
        "zCDP parts are merged without their counts",
        "privacy/composition.py",
        "rhos += count * part.rho",
        "rhos += part.rho",
        ("tests/privacy/test_composition.py::test_zcdp_adds",),
    ),
    Fault(
        "leaks of several runs count once",
        "privacy/composition.py",
        "sum((n * (-as_ball(d)).log1p() for d, n in known), ball(0))",
        "sum(((-as_ball(d)).log1p() for d, _ in known), ball(0))",
        ("tests/privacy/test_mixed_lists.py::test_n_finite_releases_against_all_their_outcomes",),
    ),
    Fault(
        "a group under Gaussian noise costs k and not k squared",
        "privacy/curves/gaussian_curve.py",
        "GaussianDP(mu_squared=size**2 * self.mu_squared)",
        "GaussianDP(mu_squared=size * self.mu_squared)",
        ("tests/privacy/test_groups.py::test_p2_exact_group_curves_are_tighter_than_the_rule",),
    ),
    Fault(
        "a group of a batch is drawn at the rate 1 - (1 - q)^k",
        "privacy/curves/sampled.py",
        "rate = size * self.rate if self.fixed_size else 1 - (1 - self.rate) ** size",
        "rate = 1 - (1 - self.rate) ** size",
        (
            "tests/privacy/test_sampled_group.py"
            "::test_a_group_is_drawn_as_often_as_its_records_without_replacement",
        ),
    ),
    Fault(
        "sampling does not amplify the leak, but removes it",
        "privacy/curves/sampled.py",
        "return self.rate * leak\n",
        "return ZERO\n",
        (
            "tests/privacy/test_sampled_group.py::test_a_leak_of_a_sampled_release_grows_with_the_losses_on_the_way",
        ),
    ),
    Fault(
        "Renyi groups: one doubling less where the size is no power of two",
        "privacy/curves/renyi.py",
        "for _ in range((size - 1).bit_length()):",
        "for _ in range(size.bit_length() - 1):",
        (
            "tests/privacy/test_conversions.py"
            "::test_a_group_of_gaussians_stays_below_the_group_of_its_order",
        ),
    ),
    Fault(
        "the order of zCDP is converted without its factor 1 / order",
        "privacy/curves/renyi.py",
        "return exponent.exp() / ball(order)",
        "return exponent.exp() / ball(order) ** 2",
        ("tests/privacy/test_zcdp.py::test_the_upper_curve_is_the_best_renyi_conversion",),
    ),
    Fault(
        "pure epsilon is half of its square as zCDP, divided once more",
        "privacy/curves/pure_terms.py",
        "return min(epsilon**2 / 2, dyadic_above(rho))",
        "return min(epsilon**2 / 8, dyadic_above(rho))",
        ("tests/privacy/test_zcdp.py::test_it_is_never_below_what_is_rho_zcdp",),
    ),
    Fault(
        "Laplace noise loses half of its exponent",
        "privacy/curves/laplace_curve.py",
        "-ball((epsilon - self.ratio) / 2).expm1()",
        "-ball((epsilon - self.ratio) / 4).expm1()",
        (f"{EXACT_CURVES}::test_d2_laplace_is_the_integral_of_the_excess",),
    ),
    Fault(
        "the telling event of geometric noise is one step short",
        "privacy/curves/geometric_curve.py",
        "below = ceil((shift - steps) / 2)",
        "below = ceil((shift - steps) / 2) - 1",
        (f"{EXACT_CURVES}::test_d2_geometric_is_the_sum_of_the_excess",),
    ),
    Fault(
        "the telling event of discrete Gaussian noise is one step short",
        "privacy/curves/discrete_gaussian_curve.py",
        "epsilon * self.sigma**2 / shift) - 1",
        "epsilon * self.sigma**2 / shift) - 2",
        (f"{EXACT_CURVES}::test_the_discrete_gaussian_is_not_gaussian",),
    ),
    Fault(
        "sums of discrete Gaussian terms: what follows the last is not charged",
        "privacy/curves/discrete_gaussian_curve.py",
        "return total + rest * _unit()",
        "return total",
        ("tests/privacy/test_lattice.py::test_what_is_left_out_term_by_term_is_charged",),
    ),
    Fault(
        "the group delta of approximate DP is k times that of one",
        "privacy/curves/approximate.py",
        "certain(lambda: ball(leak) * ball(total).expm1() / ball(step).expm1())",
        "certain(lambda: ball(leak) * size)",
        ("tests/privacy/test_groups.py::test_p2_a_group_of_k_under_approximate_dp",),
    ),
    Fault(
        "a filter forgets what a dead account was charged",
        "privacy/bank.py",
        "live=self.live and within(after, epsilon)",
        "live=within(after, epsilon)",
        (f"{FILTERS}::test_an_account_that_is_marked_dead_never_lives_again",),
    ),
    Fault(
        "a filter counts each leak once, however many releases",
        "privacy/filters.py",
        "leak=state.leak + count * price.leak",
        "leak=state.leak + min(count, 1) * price.leak",
        (f"{FILTERS}::test_how_many_more_is_exactly_how_many_are_accepted",),
    ),
)

LOSSES: tuple[Fault, ...] = (
    Fault(
        "law below: the last dot is not compared with its line",
        "privacy/loss/lattice_law.py",
        "tail[-1] = min(leak, _last_value(source, tails, float(grid[-1])) - float(lower[-1]))",
        "tail[-1] = leak",
        (f"{LAWS_BELOW}::test_lines_may_be_drawn_anywhere",),
    ),
    Fault(
        "law below: the last line is drawn on the end of the losses",
        "privacy/loss/line_places.py",
        "    places[last:] = beyond\n",
        "    places[last:] = end\n",
        (f"{IN_ORDER}::test_an_atom_at_the_end_of_sampled_losses_is_not_counted_above_it",),
    ),
    Fault(
        "law below: atoms moved down without the shift",
        "privacy/loss/lattice_law.py",
        "shift = 2 * h * NEARLY + 4 * ACCURACY * largest",
        "shift = 0.0 * largest",
        (
            f"{CHARGES}::test_atoms_that_count_as_on_the_grid_though_they_are_below_it_are_lowered_by_as_much",
        ),
    ),
    Fault(
        "law below: outputs merged without the shift",
        "privacy/loss/lattice_law.py",
        "return LatticeLaw(step, first + 1, masses, shift=shift, lost=shift)",
        "return LatticeLaw(step, first + 1, masses, lost=shift)",
        (f"{LAWS_BELOW}::test_lines_may_be_drawn_anywhere",),
    ),
    Fault(
        "law below: two atoms moved outwards",
        "privacy/loss/lattice_law.py",
        "first, last = ceil((low - origin + slack) / h), floor((high - origin - slack) / h)",
        "first, last = floor((low - origin) / h), ceil((high - origin) / h)",
        (f"{LAWS_BELOW}::test_two_atoms_moved_inwards_show_no_more_than_they_did",),
    ),
    Fault(
        "law above: misplaced losses are free",
        "privacy/loss/lattice_law.py",
        "moved = source.misplaced * (1 + float(np.abs(grid).max()))",
        "moved = 0.0",
        (f"{CHARGES}::test_a_law_above_is_above_though_its_tails_are_those_of_other_losses",),
    ),
    Fault(
        "law above: masses are not raised",
        "privacy/loss/lattice_law.py",
        "raised = atoms.masses * (1 + 4 * ACCURACY)",
        "raised = atoms.masses",
        (f"{CHARGES}::test_masses_that_are_as_small_as_their_accuracy_allows_are_raised_above",),
    ),
    Fault(
        "law above: what lies beyond the last point is left out",
        "privacy/loss/lattice_law.py",
        "tail[-1] = min(1.0, tails.p[-1] * (1 + 4 * off))  # beyond the last point: infinity",
        "tail[-1] = 0.0 * off",
        (f"{CHARGES}::test_what_lies_beyond_the_grid_is_infinite_above_and_left_out_below",),
    ),
    Fault(
        "sum: the error of the transforms is not charged",
        "privacy/loss/tilted.py",
        "masses = np.maximum(np.maximum(masses, 0.0) + sign * total.error, 0.0)",
        "masses = np.maximum(masses, 0.0)",
        (f"{CHARGES}::test_an_error_of_the_transforms_is_added_above_and_taken_off_below",),
    ),
    Fault(
        "sum: the transforms are taken to be exact",
        "privacy/loss/tilted.py",
        "return np.fft.irfft(product, self.size), error",
        "return np.fft.irfft(product, self.size), 0.0 * error",
        (f"{CHARGES}::test_no_entry_of_a_sum_is_off_by_more_than_its_error",),
    ),
    Fault(
        "sum: shifts of laws are not multiplied by their counts",
        "privacy/loss/tilted.py",
        "shift=sum(count * law.shift for law, count in laws)",
        "shift=sum(law.shift for law, _ in laws)",
        (f"{CHARGES}::test_the_shift_of_a_law_is_charged_for_each_release",),
    ),
    Fault(
        "sum: rounding of so many runs that nothing is known is taken as small",
        "privacy/loss/tilted.py",
        "    if slack > 1:  # from there",
        "    if slack > 1e99:  # from there",
        (
            f"{IN_ORDER}::test_so_many_runs_that_errors_of_floats_leave_nothing_known_are_composed_by_zcdp",
        ),
    ),
    Fault(
        "sum: leaks of several runs count once",
        "privacy/loss/tilted.py",
        "return -expm1(sum(count * log1p(-law.infinite) for law, count in laws))",
        "return -expm1(sum(log1p(-law.infinite) for law, _ in laws))",
        ("tests/privacy/loss/test_oracles.py::test_leaks_in_a_mixed_list_are_charged",),
    ),
    Fault(
        "few losses: empty lists of atoms are listed",
        "privacy/loss/enumerated.py",
        "    if not all(a.masses.any() for a, _ in atoms):",
        "    if not atoms:",
        (f"{IN_ORDER}::test_a_leak_of_nearly_one_has_its_bounds",),
    ),
    Fault(
        "few losses: what is known of lgamma is not charged",
        "privacy/loss/enumerated.py",
        "return EnumeratedLosses(losses, masses, leak, rounding, shift)",
        "return EnumeratedLosses(losses, masses, leak, -1e-6, shift)",
        (
            "tests/privacy/loss/test_oracles.py::test_the_truth_of_equal_finite_releases_lies_between_both_bounds",
        ),
    ),
    Fault(
        "atoms: the charge for tails of a discrete Gaussian is claimed as a leak",
        "privacy/curves/discrete_gaussian_curve.py",
        "return () if atoms is None else (replace(atoms, infinite=0.0),)",
        "return () if atoms is None else (atoms,)",
        (
            f"{CHARGES}::test_what_is_charged_for_the_tails_of_a_discrete_gaussian_is_not_claimed_below",
        ),
    ),
    Fault(
        "atoms: a discrete Gaussian of any width is listed",
        "privacy/loss/atoms.py",
        "if 2 * reach >= MAX_ATOMS:",
        "if reach < 0:",
        (f"{IN_ORDER}::test_a_discrete_gaussian_of_any_sensitivity_is_composed_within_memory",),
    ),
    Fault(
        "atoms: atoms under Poisson sampling do not leak",
        "privacy/loss/atoms.py",
        "return Atoms(losses, mixed, rate * base.infinite), Atoms(-losses, other)",
        "return Atoms(losses, mixed), Atoms(-losses, other)",
        (f"{CHARGES}::test_a_sampled_release_leaks_where_it_is_used_and_its_base_does",),
    ),
    Fault(
        "pairs: spliced pairs are not mirrored but Poisson",
        "privacy/loss/pairs.py",
        "return MirroredPair(self._upper).tails(losses)",
        "return PoissonPair(self.base, self.rate, removed=True).tails(losses)",
        (f"{CHARGES}::test_the_pair_of_a_batch_of_fixed_size_is_the_same_in_both_orders",),
    ),
    Fault(
        "orders: only the first is asked",
        "privacy/composed_losses.py",
        "        if _ask_accountant(order, above, at, coarser=COARSER) > worst:",
        "        if _ask_accountant(order, above, at, coarser=COARSER) > 1e300:",
        (
            "tests/privacy/loss/test_oracles.py"
            "::test_the_worse_order_is_reported_where_that_is_adding_a_record",
        ),
    ),
    Fault(
        "a delta is told beside what was told before",
        "privacy/composed_losses.py",
        'delta = known.put_in_line(at, _worst(parts, "delta_above", at))',
        'delta = _worst(parts, "delta_above", at)',
        ("tests/privacy/test_order_of_questions.py",),
    ),
    Fault(
        "delta at an epsilon that was told is more than was told",
        "privacy/composed_losses.py",
        "        _recall(parts).know(epsilon * (1 - A_HAIR), at)",
        "        _recall(parts)",
        ("tests/privacy/test_order_of_questions.py",),
    ),
    Fault(
        "deltas that were told before are not taken down by an epsilon",
        "privacy/composed_losses.py",
        "self._deltas[at:] = [min(earlier, delta) for earlier in self._deltas[at:]]",
        "self._deltas[at:] = [max(earlier, 0.0) for earlier in self._deltas[at:]]",
        ("tests/privacy/test_order_of_questions.py",),
    ),
)

NOISE: tuple[Fault, ...] = (
    Fault(
        "draws beyond an int64 are clamped before the value is added",
        "randomness/rounding.py",
        "            self.far[place] = whole\n",
        "            self.out[place] = WHOLE_LIMIT if whole > 0 else -WHOLE_LIMIT\n",
        (
            "tests/mechanisms/test_values.py"
            "::test_a_draw_beyond_an_int64_is_added_before_anything_is_clamped",
        ),
    ),
    Fault(
        "rounding onto a grid: half the margin",
        "randomness/rounding.py",
        "return _below(units, 2 * margin)",
        "return _below(units, margin)",
        (f"{BULK}::test_a_float_that_is_off_by_its_margin_is_rounded_rightly_or_left_open",),
    ),
    Fault(
        "rounding to whole numbers: half the margin",
        "randomness/rounding.py",
        "return floors, _below(y, 2 * margin)",
        "return floors, _below(y, margin)",
        (f"{BULK}::test_a_float_that_is_off_by_its_margin_is_rounded_rightly_or_left_open",),
    ),
    Fault(
        "many at once: the quick part is 4,096 positions too wide",
        "randomness/bulk.py",
        "max(q - 2, 0) for q in",
        "q + 4096 for q in",
        (f"{BULK}::test_points_next_to_the_border_are_kept_as_the_reference_keeps_them",),
    ),
    Fault(
        "many at once: no exact look near the border",
        "randomness/bulk.py",
        "clear = ~beyond & (np.abs(room) >= WEDGE_MARGIN)",
        "clear = ~beyond",
        (f"{BULK}::test_points_next_to_the_border_are_kept_as_the_reference_keeps_them",),
    ),
    Fault(
        "discrete Gaussian, many: kept without a look too often far out",
        "randomness/discrete_gaussian.py",
        "** 2) ** 2 / 24 - SLACK) * 65536)",
        "** 2) ** 2 / 48 - SLACK) * 65536)",
        (f"{LAWS}::test_nothing_is_kept_without_a_look_more_often_than_its_chance",),
    ),
    Fault(
        "discrete Gaussian: every proposal is kept",
        "randomness/discrete_gaussian.py",
        "        if _is_kept(nearest, sigma, bits):",
        "        if _is_kept(0 * nearest, sigma, bits):",
        (f"{LAWS}::test_single_draws_follow_the_stated_law_and_not_one_ten_percent_wider",),
    ),
    Fault(
        "geometric: zero is drawn twice as often",
        "randomness/geometric.py",
        "    return floor + (floor >= 0)\n",
        "    return floor\n",
        (f"{LAWS}::test_single_draws_follow_the_stated_law_and_not_one_ten_percent_wider",),
    ),
    Fault(
        "coins: equal digits are heads",
        "randomness/chance.py",
        "            return False  # only zeros follow in p",
        "            return True  # only zeros follow in p",
        ("tests/randomness/test_chance.py::test_a_rational_coin_has_its_probability_exactly",),
    ),
    Fault(
        "coins: the first word decides, however close",
        "randomness/chance.py",
        "        if known != digits:\n",
        "        if known != digits or length > 0:\n",
        ("tests/randomness/test_chance.py::test_a_rational_coin_has_its_probability_exactly",),
    ),
    Fault(
        "uniform: too large a number is folded back",
        "randomness/uniform.py",
        "        if number < bound:\n            return number\n",
        "        return number % bound\n",
        ("tests/randomness/test_uniform.py::test_every_number_below_the_bound_is_equally_likely",),
    ),
    Fault(
        "selection: the margin does not grow with the number of sums",
        "randomness/choice.py",
        "(RELATIVE + A_PART * sums.size) * total",
        "RELATIVE * total",
        (
            "tests/randomness/test_choice.py"
            "::test_the_margin_of_a_choice_grows_with_the_number_of_sums",
        ),
    ),
    Fault(
        "selection: a choice near a border is not looked at",
        "randomness/choice.py",
        "if low + slack < target < inner[place] - slack:",
        "if low <= target or slack:",
        (
            "tests/randomness/test_choice.py::test_a_word_on_the_border_of_two_shares_is_decided_by_the_next_bits",
        ),
    ),
    Fault(
        "ziggurat: the quick part is a thousandth too wide",
        "randomness/ziggurat.py",
        "quick.append(fraction_below(crossing))",
        "quick.append(fraction_below(crossing) * Fraction(1001, 1000))",
        (
            "tests/randomness/test_ziggurat.py"
            "::test_the_rectangles_have_equal_area_and_cover_the_density",
        ),
    ),
    Fault(
        "bits: arrays are filled without the lock",
        "randomness/bits.py",
        "        target = _bytes_of(out)\n        with self._lock:\n",
        "        target = _bytes_of(out)\n        if target is not None:\n",
        ("tests/randomness/test_bits.py::test_nothing_is_encrypted_without_the_lock",),
    ),
    Fault(
        "bits: a key is never renewed",
        "randomness/bits.py",
        "        self._left -= len(target)\n",
        "",
        ("tests/randomness/test_bits.py::test_a_key_is_renewed_again_and_again",),
    ),
    Fault(
        "bits: a child keeps its parent's lock",
        "randomness/bits.py",
        "            os.register_at_fork(after_in_child=self._start)",
        "            os.register_at_fork(after_in_child=self._process.bit_length)",
        (
            "tests/randomness/test_bits.py::test_a_child_does_not_wait_for_a_lock_that_died_with_its_parents_thread",
        ),
    ),
    Fault(
        "the grid of real noise depends on one bit less of the scale",
        "randomness/real_noise.py",
        "return (k if fits else k - 1) - bits",
        "return k - GRID_BITS",
        (f"{LAWS}::test_the_grid_is_a_power_of_two_between_2_28_and_2_29_steps_a_scale",),
    ),
)

MECHANISMS: tuple[Fault, ...] = (
    Fault(
        "sensitivity of sums: the lower bound is read as a decimal only",
        "mechanisms/sensitivity.py",
        "low = min(as_typed(lower), as_binary(lower))",
        "low = as_typed(lower)",
        ("tests/mechanisms/test_sensitivity.py::test_d5_float_bounds_are_read_the_wider_way",),
    ),
    Fault(
        "sensitivity of filtered sums under replace: that of all rows",
        "mechanisms/sensitivity.py",
        "    elif some_dropped or max_rows > 1:\n",
        "    elif max_rows > 1:\n",
        ("tests/mechanisms/test_sensitivity.py::test_m4_a_sum_moves_by_exactly_its_sensitivity",),
    ),
    Fault(
        "sensitivity of histograms under replace: one group moves",
        "mechanisms/sensitivity.py",
        "return Sensitivity(2 * max_rows, _root_above(2 * max_rows**2), neighbours)",
        "return Sensitivity(2 * max_rows, max_rows, neighbours)",
        (
            "tests/mechanisms/test_sensitivity.py::test_m4_a_histogram_moves_by_exactly_its_sensitivity_in_both_norms",
        ),
    ),
    Fault(
        "selection: scores are twice as steep",
        "mechanisms/choosing.py",
        "return epsilon / sensitivity if monotone else epsilon / (2 * sensitivity)",
        "return epsilon / sensitivity",
        (
            "tests/mechanisms/test_selection.py::test_m6_no_neighbour_is_further_than_epsilon_by_enumeration",
        ),
    ),
    Fault(
        "sparse vector: the noise of queries does not grow with their count",
        "mechanisms/above_threshold.py",
        "return 2 * self.count * width / self.epsilon",
        "return 2 * width / self.epsilon",
        (
            "tests/mechanisms/test_above_threshold.py::test_query_noise_that_ignores_the_count_is_not_private",
        ),
    ),
    Fault(
        "sparse vector: a stream goes on after its last True",
        "mechanisms/above_threshold.py",
        "            remaining -= above\n",
        "            remaining -= 0 * above\n",
        ("tests/mechanisms/test_above_threshold.py::test_the_answers_end_after_count_times_true",),
    ),
    Fault(
        "top k: every round costs the whole epsilon",
        "mechanisms/top_k.py",
        "        if self.delta == 0:\n            return self.epsilon / self.k\n",
        "        if self.delta == 0:\n            return self.epsilon\n",
        (
            "tests/mechanisms/test_top_k.py::test_m7_no_ranking_is_further_than_epsilon_from_a_neighbours",
        ),
    ),
    Fault(
        "values: whole numbers beyond 2^53 are rounded to floats",
        "mechanisms/values.py",
        'return float(min(max(int(cast("int", value)), -EXACT_FLOAT), EXACT_FLOAT))',
        'return float(int(cast("int", value)))',
        (
            "tests/mechanisms/test_values.py::test_whole_numbers_beyond_2_53_never_move_apart_in_a_float_mechanism",
        ),
    ),
)

LEDGER: tuple[Fault, ...] = (
    Fault(
        "replay: a charge may name another version",
        "ledger/chain/replay.py",
        '        if entry.body["version"] != before.version:\n',
        '        if entry.body["version"] is None:\n',
        (f"{VERIFICATION}::test_a_charge_for_another_version_is_found_though_it_is_signed",),
    ),
    Fault(
        "replay: a charge may be settled twice",
        "ledger/chain/replay.py",
        "if number in self.settled or reserved.name != entry.name:",
        "if reserved.name != entry.name:",
        (f"{VERIFICATION}::test_a_charge_that_is_settled_twice_is_found_though_it_is_signed",),
    ),
    Fault(
        "replay: an entry need not follow the one before",
        "ledger/chain/replay.py",
        "if (entry.number, entry.previous) != (self.number + 1, self.head):",
        "if entry.number != self.number + 1:",
        (f"{VERIFICATION}::test_any_change_to_an_export_is_found",),
    ),
    Fault(
        "replay: a version may be lowered",
        "ledger/chain/replay.py",
        "                if version <= before.version:\n",
        "                if version < 0:\n",
        (f"{VERIFICATION}::test_a_history_that_does_not_add_up_is_found_though_it_is_signed",),
    ),
    Fault(
        "replay: any state stands after a charge",
        "ledger/chain/replay.py",
        "            if not _are_near(expected, stated):\n",
        "            if expected.name != stated.name:\n",
        (f"{VERIFICATION}::test_a_history_that_does_not_add_up_is_found_though_it_is_signed",),
    ),
    Fault(
        "verification: the head need not be signed",
        "ledger/chain/verification.py",
        "    if not is_signed_head(last, replay.public_key):\n",
        "    if not replay.public_key:\n",
        (f"{VERIFICATION}::test_any_change_to_any_column_of_any_row_is_found",),
    ),
    Fault(
        "checkpoints: a changed one passes",
        "ledger/chain/checkpoints.py",
        '    if not is_signed(statement, signature=fields["signature"], public=public):\n',
        "    if not statement:\n",
        (
            "tests/ledger/test_checkpoints.py::test_a_checkpoint_that_was_changed_or_is_of_another_ledger_is_refused",
        ),
    ),
    Fault(
        "charges: a frozen data set is charged",
        "ledger/acts.py",
        "    if before.frozen:\n        raise DataSetFrozen(",
        "    if before.frozen is None:\n        raise DataSetFrozen(",
        ("tests/ledger/test_ledger.py::test_a_failure_freezes_and_only_the_owner_thaws",),
    ),
    Fault(
        "a charge from before a loss is gone on with after the thaw",
        "ledger/ledger.py",
        "                acts.close_begun(books, name)\n",
        "                pass\n",
        ("tests/ledger/test_one_charge.py::test_after_a_thaw_no_charge_of_before_is_gone_on_with",),
    ),
    Fault(
        "an older letalone still writes into a ledger that was upgraded",
        "ledger/storage/tables.py",
        'Column("signed", Text, key="signature", nullable=False)',
        'Column("signature", Text, nullable=False)',
        (
            "tests/ledger/test_samples.py::test_a_ledger_of_format_2_is_upgraded_and_no_entry_changes",
        ),
    ),
)

AUDIT: tuple[Fault, ...] = (
    Fault(
        "audit: the error is not shared by the two rates",
        "audit/bound.py",
        "    half = miss / 2\n",
        "    half = miss\n",
        (
            "tests/audit/test_bound.py::test_one_mean_rate_alone_is_missed_by_at_most_half_of_the_error",
        ),
    ),
    Fault(
        "audit: draws that differ are judged by what was seen",
        "audit/bound.py",
        "Counts(max(counts.often - 1, 0), min(counts.seldom + 1, counts.total), counts.total)",
        "counts",
        (
            "tests/audit/test_bound.py::test_one_mean_rate_alone_is_missed_by_at_most_half_of_the_error",
        ),
    ),
    Fault(
        "audit: the level of a product is that of one number",
        "audit/bound.py",
        "share = certain(lambda: ball(exact) * (1 - ball(exact).log()))",
        "share = certain(lambda: ball(exact))",
        ("tests/audit/test_bound.py::test_the_bound_exceeds_the_truth_no_more_often_than_stated",),
    ),
    Fault(
        "audit: one run tries four numbers of guesses at the whole error each",
        "audit/one_run.py",
        "each = miss / len(sizes)",
        "each = miss",
        (
            "tests/audit/test_one_run.py::test_blind_guesses_are_wrong_about_epsilon_no_oftener_than_promised",
        ),
    ),
)

EXACT: tuple[Fault, ...] = (
    Fault(
        "balls: floats are rounded down, not up",
        "exact/balls.py",
        "kept = -((-mantissa) >> drop) if drop > 0 else mantissa << -drop",
        "kept = mantissa >> drop if drop > 0 else mantissa << -drop",
        ("tests/exact/test_balls.py::test_the_edges_of_the_floats_round_outwards",),
    ),
    Fault(
        "balls: a number is said to be certain at once",
        "exact/balls.py",
        "if good or precision >= MOST_BITS:",
        "if good or precision:",
        ("tests/exact/test_balls.py::test_digits_that_cancel_are_computed_again_with_more",),
    ),
)

KEYED_NOISE: tuple[Fault, ...] = (
    Fault(
        "a quarter round of the cipher turns by 8 instead of 7",
        "randomness/keyed/cipher.py",
        "(c, d, b, 7)",
        "(c, d, b, 8)",
        (f"{KEYED}::test_words_are_those_of_the_published_vectors",),
    ),
    Fault(
        "the high half of a place is dropped, so that noise repeats after 2^35 numbers",
        "randomness/keyed/cipher.py",
        "(places >> HALF).astype(np.uint32)",
        "np.zeros(places.size, np.uint32)",
        (f"{KEYED}::test_words_are_those_of_another_program_wherever_the_block_lies",),
    ),
    Fault(
        "the margin does not know that U is a rounded float",
        "randomness/keyed/law.py",
        "PER_ROUNDING = 2.0**-51",
        "PER_ROUNDING = 2.0**-60",
        (f"{KEYED}::test_floats_are_off_by_less_than_half_of_their_margin",),
    ),
    Fault(
        "a radius of -0 has a margin below all numbers",
        "randomness/keyed/gaussians.py",
        "np.abs(np.sqrt(-2 * np.log(uniform)))",
        "np.sqrt(-2 * np.log(uniform))",
        (f"{KEYED}::test_what_floats_cannot_know_is_left_open",),
    ),
    Fault(
        "balls swap the numbers of a pair where floats do not",
        "randomness/keyed/exact_sum.py",
        "if swaps ^ second",
        "if second",
        (f"{KEYED}::test_what_balls_decide_is_what_floats_gave",),
    ),
    Fault(
        "radii and angles read the same further bits",
        "randomness/keyed/exact_sum.py",
        "self._kind + 2 * block",
        "RADIUS + 2 * block",
        (f"{KEYED}::test_no_block_of_the_cipher_is_read_for_two_purposes",),
    ),
    Fault(
        "further bits are those of the first words",
        "randomness/keyed/exact_sum.py",
        "RADIUS, ANGLE = 1, 2",
        "RADIUS, ANGLE = 0, 2",
        (f"{KEYED}::test_no_block_of_the_cipher_is_read_for_two_purposes",),
    ),
    Fault(
        "a step may have its noise twice",
        "randomness/keyed/run_keys.py",
        "        self._last = step\n",
        "",
        (f"{KEYED}::test_a_step_has_the_key_once",),
    ),
    Fault(
        "both numbers of a pair have the same sign",
        "randomness/keyed/gaussians.py",
        "_signs(top, 29)",
        "_signs(top, 30)",
        (f"{KEYED}::test_the_two_numbers_of_a_pair_are_independent",),
    ),
    Fault(
        "a forked process draws the noise of its parent",
        "randomness/keyed/run_keys.py",
        "if self._process != os.getpid():",
        "if self._process == -1:",
        (f"{KEYED}::test_each_run_has_a_key_of_its_own_and_so_has_each_process",),
    ),
)

FAULTS: tuple[Fault, ...] = (
    CURVES + LOSSES + NOISE + MECHANISMS + LEDGER + AUDIT + EXACT + KEYED_NOISE
)
