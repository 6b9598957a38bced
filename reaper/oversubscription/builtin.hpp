// The estimators and QoS controllers that there are; each is one file.
#pragma once

#include "reaper/oversubscription/estimator_table.hpp"
#include "reaper/oversubscription/qos_table.hpp"

namespace reaper {

EstimatorInfo noop_estimator();
EstimatorInfo fixed_estimator();
EstimatorInfo usage_slack_estimator();

QosInfo noop_qos();
QosInfo load_qos();
QosInfo pressure_qos();

}  // namespace reaper
