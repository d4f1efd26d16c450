//! Many questions at once, in an order that suits the memory.

use super::SpatialIndex;
use crate::{DenseId, Region, spatial_order};

impl<I: DenseId> SpatialIndex<I> {
    /// Answers many questions in the order that is fastest: `f` gets the number of each and every id in it, once for
    /// each question.
    ///
    /// Each answer is that of [`collect`](crate::SpatialQuery::collect), in the same order of ids. Neighbouring questions
    /// follow each other ([`spatial_order`]), so they find leaves still warm; which comes first is a
    /// function of the questions alone. It allocates some 80 bytes for each question.
    ///
    /// ```
    /// use nebula_coords::{Region, SpatialIndex};
    /// use nebula_math::WorldPosition;
    ///
    /// let index = SpatialIndex::from_points(&[(7_u32, WorldPosition::ORIGIN), (8, WorldPosition::MIN)]);
    /// let questions = [WorldPosition::MAX, WorldPosition::MIN, WorldPosition::new(-3, 0, 0)];
    /// let questions = questions.map(|at| Region::ball(at, 5));
    /// let mut answers = vec![Vec::new(); 3];
    /// index.query_batch(&questions, |number, ids| answers[number] = ids.to_vec());
    /// assert_eq!(answers, [vec![], vec![8], vec![7]]);
    /// ```
    ///
    /// # Panics
    /// If there are 2^32 questions or more.
    pub fn query_batch(&self, questions: &[Region], mut f: impl FnMut(usize, &[I])) {
        let places: Vec<_> = questions.iter().map(Region::place).collect();
        let mut ids = Vec::new();
        for number in spatial_order(&places) {
            let number = number as usize;
            ids.clear();
            self.collect_region(&questions[number], &mut ids);
            f(number, &ids);
        }
    }
}
