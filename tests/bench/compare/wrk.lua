-- Lines of a file as requests to translate, in random order; see wrk.py.
--   wrk -s wrk.lua URL -- FILE BODY SEED RATE
-- BODY is the JSON around a line, %s where it stands. RATE: requests a second that arrive at random (a Poisson process),
-- however fast answers come, as long as a connection is free; 0: each connection asks again as soon as it is answered.

local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long seconds, nanoseconds; } moment;
  int clock_gettime(int clock, moment* now);
]]

local function milliseconds()
  local now = ffi.new("moment")
  ffi.C.clock_gettime(1, now)
  return tonumber(now.seconds) * 1000 + tonumber(now.nanoseconds) / 1e6
end

local requests, rate, next_arrival = {}, 0, nil

function init(arguments)
  local file, body, seed = arguments[1], arguments[2], tonumber(arguments[3])
  rate = tonumber(arguments[4])
  math.randomseed(seed)
  local headers = { ["Content-Type"] = "application/json" }
  for line in io.lines(file) do
    local text = line:gsub('[%z\1-\31\\"]', function(c) return string.format("\\u%04x", c:byte()) end)
    requests[#requests + 1] = wrk.format("POST", nil, headers, (body:gsub("%%s", function() return text end)))
  end
  if rate == 0 then delay = nil end
end

function request() return requests[math.random(#requests)] end

function delay()
  local now = milliseconds()
  next_arrival = (next_arrival or now) - 1000 / rate * math.log(1 - math.random())
  return math.max(0, math.floor(next_arrival - now + 0.5))
end

function done(summary, latency)
  local errors = 0
  for _, count in pairs(summary.errors) do errors = errors + count end
  io.stderr:write(string.format('{"requests": %d, "seconds": %f, "errors": %d, "p50": %f, "p99": %f}\n', summary.requests,
    summary.duration / 1e6, errors, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
