#pragma once
#include <gloo/rendezvous/store.h>
