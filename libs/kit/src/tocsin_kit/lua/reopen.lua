-- Let a run go on that was ended because one of its messages was given up.
-- KEYS: 1 run
-- ARGV: 1 the state of such a run, 2 id of the event that ended it, 3 its topic, 4 name of the
--       reopening, 5 states that are not terminal, 6 now ms
-- Returns {verdict, state, version}; verdicts: reopened (also when it was before), open, ended,
-- lost (nobody knows where it was), unknown
local run, name = KEYS[1], 'reopened:' .. ARGV[4]
local state = redis.call('HGET', run, 'state')
local version = tonumber(redis.call('HGET', run, 'version') or '0')
if not state then return {'unknown', '', version} end
local again = redis.call('HGET', run, name)
if again then return {'reopened', again, version} end
local function open(one) return string.find(',' .. ARGV[5] .. ',', ',' .. one .. ',', 1, true) end
if open(state) then return {'open', state, version} end
local fact = redis.call('HGET', run, 'fact:' .. ARGV[3]) or ''
local ours = string.match(fact, '^%d+ ([^\n]*)') == ARGV[2]
if state ~= ARGV[1] or not ours then return {'ended', state, version} end
local before = redis.call('HGET', run, 'before')
if not before or not open(before) then return {'lost', state, version} end
redis.call('HSET', run, 'state', before, 'version', version + 1, 'updated', ARGV[6], name, before)
redis.call('HDEL', run, 'fact:' .. ARGV[3])
return {'reopened', before, version + 1}
