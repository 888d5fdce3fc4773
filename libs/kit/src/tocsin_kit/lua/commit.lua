-- After facts.lua.
-- Store what a handler concluded: state, version, facts and the outgoing events, all or nothing.
-- KEYS: run, lease
-- ARGV: 1 service, 2 event id, 3 token, 4 states it may leave, 5 new state ('' keeps),
--       6 outgoing events, 7 now ms, 8 time to live ms, then facts: name, time in ms and id, event
-- Returns {verdict, stored outgoing events}
local run, lease = KEYS[1], KEYS[2]
local field = 'done:' .. ARGV[1] .. ':' .. ARGV[2]
local done = redis.call('HGET', run, field)
if done then return {'done', done} end
if redis.call('GET', lease) ~= ARGV[3] then return {'fenced', ''} end
redis.call('DEL', lease)

local state = redis.call('HGET', run, 'state') or 'received'
if not string.find(',' .. ARGV[4] .. ',', ',' .. state .. ',', 1, true) then return {'stale', state} end
local version = tonumber(redis.call('HGET', run, 'version') or '0')
if ARGV[5] ~= '' then
  version = version + 1
  redis.call('HSET', run, 'state', ARGV[5], 'version', version, 'before', state)
end
local stored = version .. '\n' .. ARGV[6]
-- Nothing concluded is nothing to repeat: such a handler may run again.
if ARGV[5] ~= '' or ARGV[6] ~= '[]' then redis.call('HSET', run, field, stored) end
redis.call('HSET', run, 'updated', ARGV[7])
redis.call('HDEL', run, 'attempts:' .. ARGV[1] .. ':' .. ARGV[2], 'error:' .. ARGV[1] .. ':' .. ARGV[2])
for i = 9, #ARGV, 3 do keep(run, ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
redis.call('PEXPIRE', run, ARGV[8])
return {'ok', stored}
