-- Take the lease on a run for one event, or say why not.
-- KEYS: run, lease
-- ARGV: 1 service, 2 event id, 3 token, 4 lease ms, 5 states it may start from, 6 states that come
--       before those, 7 state while working ('' keeps), 8 run version the event made true,
--       9 attempts allowed, 10 now ms, 11 states that are not terminal
-- Returns {verdict, stored outgoing events, attempts}
local run, lease = KEYS[1], KEYS[2]
local done = redis.call('HGET', run, 'done:' .. ARGV[1] .. ':' .. ARGV[2])
if done then return {'done', done, 0} end

local function among(list, state) return string.find(',' .. list .. ',', ',' .. state .. ',', 1, true) end
local state = redis.call('HGET', run, 'state') or 'received'
local version = tonumber(redis.call('HGET', run, 'version') or '0')
-- An event newer than the record means that the store lost its last moments: the event wins,
-- unless the run has ended: nothing leaves a terminal state.
local newer = tonumber(ARGV[8]) > version and among(ARGV[11], state)
if not newer and not among(ARGV[5], state) then
  -- A run that the store does not know will not come any further.
  local waits = among(ARGV[6], state) and redis.call('EXISTS', run) == 1
  return {waits and 'early' or 'stale', state, 0}
end

local owner = redis.call('GET', lease)
if owner and owner ~= ARGV[3] then return {'busy', tostring(redis.call('PTTL', lease)), 0} end
redis.call('SET', lease, ARGV[3], 'PX', ARGV[4])
if newer then redis.call('HSET', run, 'version', ARGV[8]) end
local entered = ARGV[7]
if entered == '' and not among(ARGV[5], state) then entered = string.match(ARGV[5], '^[^,]+') end
if entered ~= '' then redis.call('HSET', run, 'state', entered) end
redis.call('HSETNX', run, 'created', ARGV[10])
redis.call('HSET', run, 'updated', ARGV[10])
local attempts = redis.call('HINCRBY', run, 'attempts:' .. ARGV[1] .. ':' .. ARGV[2], 1)
if attempts > tonumber(ARGV[9]) then
  return {'exhausted', redis.call('HGET', run, 'error:' .. ARGV[1] .. ':' .. ARGV[2]) or '', attempts}
end
return {'go', '', attempts}
