// A synthetic task for studies of training itself: as much data as wanted, nothing to install.
#ifndef SLACKLINE_WORKER_DATA_TEACHER_H_
#define SLACKLINE_WORKER_DATA_TEACHER_H_

#include "worker/data/dataset.h"

namespace slackline {

// 65,536 + 4,096 rows of 32 uniform features of variance 1. Each label is drawn from the softmax of
// a fixed random network (32-48-10, rectified), so no model can have a loss near 0. The same task
// for every seed of a run.
Split MakeTeacher();

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_TEACHER_H_
