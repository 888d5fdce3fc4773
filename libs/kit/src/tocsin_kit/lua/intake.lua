-- Attach one delivery of an alert to its run, or open one, and keep the news until it is published.
-- KEYS: incident
-- ARGV: 1 status, 2 fingerprint, 3 episode (start of the alert), 4 run id to open, 5 now ms,
--       6 time to live ms, 7 the alert
-- Returns {outcome, run id, occurrences, alerts still firing, number of the stored news}
-- Outcomes: opened, attached, resolved, ignored
local key = KEYS[1]
local run = redis.call('HGET', key, 'run')
local open = redis.call('HGET', key, 'open') == '1'
local member = 'firing:' .. ARGV[2]
local known = redis.call('HGET', key, 'episode:' .. ARGV[2])

local outcome
if ARGV[1] == 'resolved' then
  if not run or redis.call('HEXISTS', key, member) == 0 then return {'ignored', run or '', 0, 0, 0} end
  redis.call('HDEL', key, member)
  outcome = 'resolved'
elseif open or (run and known == ARGV[3]) then
  outcome = 'attached'
else
  local counters = redis.call('HMGET', key, 'news')
  -- Episodes stay known: an alert that outlives its run would name that run again.
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if not string.find(field, '^out:') and not string.find(field, '^episode:') then
      redis.call('HDEL', key, field)
    end
  end
  redis.call('HSET', key, 'run', ARGV[4], 'open', '1', 'first_seen', ARGV[5], 'news', counters[1] or '0')
  run, outcome = ARGV[4], 'opened'
end

if outcome ~= 'resolved' then redis.call('HSET', key, member, ARGV[3], 'episode:' .. ARGV[2], ARGV[3]) end
local firing = 0
for _, field in ipairs(redis.call('HKEYS', key)) do
  if string.sub(field, 1, 7) == 'firing:' then firing = firing + 1 end
end
local count = outcome == 'resolved' and tonumber(redis.call('HGET', key, 'count') or '0')
  or redis.call('HINCRBY', key, 'count', 1)
local news = redis.call('HINCRBY', key, 'news', 1)
redis.call('HSET', key, 'last_seen', ARGV[5],
  'out:' .. news, table.concat({outcome, run, count, firing, ARGV[5], ARGV[7]}, '\n'))
redis.call('PEXPIRE', key, ARGV[6])
return {outcome, run, count, firing, news}
