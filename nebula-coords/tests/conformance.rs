//! One list of behaviours, run for every index: each behaviour of each index is a test of its own.
//!
//! Expectations are worked out by hand or by big-integer arithmetic, never by another index.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

#[path = "conformance/ball.rs"]
mod ball;
#[path = "conformance/boxes.rs"]
mod boxes;
#[path = "conformance/check.rs"]
mod check;
#[path = "conformance/crowd.rs"]
mod crowd;
#[path = "conformance/edges.rs"]
mod edges;
#[path = "conformance/editing.rs"]
mod editing;
#[path = "conformance/forms.rs"]
mod forms;
#[path = "conformance/metric.rs"]
mod metric;
#[path = "conformance/nearest.rs"]
mod nearest;
#[path = "conformance/swept.rs"]
mod swept;

/// The list. A behaviour that is written but missing here is reported as dead code.
macro_rules! behaviours {
    ($callback:ident $($index:ty)?) => {
        $callback! {
            [$($index)?]
            ball {
                an_empty_index_has_no_hits,
                the_boundary_belongs_to_the_ball,
                one_past_the_boundary_is_out,
                a_negative_radius_finds_nothing,
                radius_zero_finds_the_very_position,
                radius_one_finds_axis_neighbours,
                radius_two_to_the_31_is_exact,
                radius_two_to_the_32_is_exact,
                radius_two_to_the_33_is_exact,
                radius_two_to_the_63_is_exact,
                radius_two_to_the_64_is_exact,
                radius_two_to_the_96_is_exact,
                radius_two_to_the_126_is_exact,
                the_largest_radius_is_exact,
                a_square_that_wraps_is_not_near,
                the_corner_of_the_cube_is_outside,
                exact_at_every_scale,
                the_centre_may_be_far_from_everything,
                balls_agree_with_big_integers,
            }
            metric {
                a_manhattan_boundary_belongs,
                a_manhattan_sum_past_128_bits_does_not_wrap,
                a_chebyshev_boundary_belongs,
                the_largest_chebyshev_ball_is_exact,
                every_metric_treats_a_negative_radius_as_empty,
                every_metric_finds_the_very_position_at_radius_zero,
                metrics_agree_along_an_axis,
                metrics_nest,
                metrics_agree_with_big_integers,
            }
            boxes {
                a_box_holds_its_faces_and_corners,
                a_box_of_one_point,
                a_flat_box,
                a_box_that_is_a_line,
                the_universe_holds_everything,
                corners_may_come_in_any_order,
                a_box_across_zero,
                a_box_that_ends_at_a_sector_edge,
                eight_octants_share_out_all_points,
                boxes_at_the_ends_of_the_universe,
                boxes_agree_with_big_integers,
            }
            nearest {
                nearest_come_by_distance,
                equal_distances_come_by_id,
                no_neighbours_when_none_are_asked_for,
                more_than_stored_gives_all,
                nearest_in_an_empty_index,
                the_limit_belongs,
                a_negative_limit_finds_nothing,
                limit_zero_finds_the_very_position,
                the_largest_limit_is_still_a_limit,
                nearest_replaces_the_buffer,
                nearest_among_identical_points_come_by_id,
                nearest_crosses_zero_and_sector_edges,
                nearest_without_limit_holds_the_whole_ball,
                nearest_agree_with_big_integers,
            }
            swept {
                a_sphere_that_stays_is_a_ball,
                the_side_of_the_path_belongs,
                the_ends_of_the_path_are_round,
                a_slanted_path_is_exact,
                a_negative_swept_radius_finds_nothing,
                radius_zero_finds_points_on_the_path,
                a_path_is_the_same_backwards,
                a_path_through_the_whole_universe,
                the_widest_path_is_exact,
                paths_agree_with_big_integers,
            }
            edges {
                a_sector_corner_is_no_wall,
                a_negative_sector_corner_is_no_wall,
                the_origin_is_no_wall,
                no_power_of_two_is_a_wall,
                neighbours_across_a_sector_edge_are_near,
                each_axis_reaches_both_ends,
                every_mix_of_extremes_is_kept_apart,
                points_two_to_the_64_apart_are_never_near,
                points_two_to_the_127_apart_are_never_near,
                the_whole_range_apart_is_never_near,
                space_does_not_wrap_around,
                every_power_of_two_is_found_alone,
                a_point_moves_from_end_to_end,
            }
            crowd {
                a_thousand_points_at_one_spot,
                a_thousand_points_at_either_end,
                a_thousand_points_leave_one_spot,
                two_crowds_a_millimetre_apart,
                two_clusters_two_to_the_126_apart,
                points_on_one_line,
                points_on_one_plane,
                a_dense_cube,
                balls_that_just_touch_a_cell_find_its_points,
                crowds_of_very_different_size,
                nothing_is_left_after_a_crowd_left,
                a_crowd_that_walks_is_found_where_it_is,
            }
            editing {
                insert_returns_where_the_id_was,
                inserting_a_stored_id_moves_it,
                a_move_is_seen_at_once,
                a_small_move_is_seen_at_once,
                moving_to_the_same_place_changes_nothing,
                moving_an_unknown_id_changes_nothing,
                remove_returns_where_the_id_was,
                removing_an_unknown_id_changes_nothing,
                removing_twice_removes_once,
                a_removed_id_may_be_used_again,
                clear_removes_everything,
                a_cleared_index_may_be_used_again,
                a_bulk_build_equals_inserts,
                a_bulk_build_of_nothing,
                the_last_entry_wins_in_a_bulk_build,
                a_bulk_built_index_may_be_edited,
                the_last_entry_wins_in_a_batch,
                a_batch_skips_unknown_ids,
                a_long_batch_equals_single_moves,
                an_empty_batch_changes_nothing,
                ids_may_be_far_apart,
                len_and_position_follow_every_change,
            }
            forms {
                count_collect_and_visit_agree,
                a_break_ends_the_visit,
                a_late_break_ends_the_visit,
                a_visit_without_break_continues,
                no_slice_is_empty,
                each_id_comes_once,
                collect_replaces_the_buffer,
                the_same_operations_give_the_same_order,
                asking_twice_gives_the_same_order,
                questions_work_through_a_trait_object,
                an_index_says_when_it_is_empty,
            }
        }
    };
}

macro_rules! tests_for {
    ([$index:ty] $($topic:ident { $($name:ident,)* })*) => {
        $($(
            #[test]
            fn $name() {
                crate::$topic::$name::<$index>();
            }
        )*)*
    };
}

macro_rules! names {
    ([] $($topic:ident { $($name:ident,)* })*) => {
        &[$($(concat!(stringify!($topic), "::", stringify!($name)),)*)*]
    };
}

mod linear_index {
    behaviours!(tests_for nebula_coords::LinearIndex<u32>);
}

mod spatial_index {
    behaviours!(tests_for nebula_coords::SpatialIndex<u32>);
}

mod spatial_hash_map {
    behaviours!(tests_for crate::common::adapters::HashMap);
}

mod spatial_grid {
    behaviours!(tests_for crate::common::grids::DefaultGrid);
}

mod spatial_grid_of_columns {
    behaviours!(tests_for crate::common::grids::Grid<10_000, true>);
}

mod sorted_index {
    behaviours!(tests_for crate::common::grids::DefaultSorted);
}

#[test]
fn the_list_is_long_and_has_no_name_twice() {
    let names: &[&str] = behaviours!(names);
    assert!(names.len() >= 60, "only {} behaviours", names.len());
    let mut unique = names.to_vec();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
}
