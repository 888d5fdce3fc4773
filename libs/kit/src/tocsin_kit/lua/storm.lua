-- Count a new run, tell whether there is a storm, and which run stands for its root in it.
-- KEYS: arrivals, storm, its runs, ended storms
-- ARGV: 1 'enter' or 'look', 2 now ms, 3 window ms, 4 new runs within a window that are no storm yet,
--       5 run that enters or storm to look at, 6 root of the run, 7 leader that has ended ('' for none)
-- Returns on 'enter' {storm ('' for none), leader, new runs in the window, start ms},
-- on 'look' {'on' or '', digest of the ended storm or '', new runs in the window, start ms}
local LISTED, KEPT_MS = 10, 86400000
local arrivals, storm, runs, ended = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, window, calm = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

if ARGV[1] == 'enter' then redis.call('ZADD', arrivals, 'NX', now, ARGV[5]) end
redis.call('ZREMRANGEBYSCORE', arrivals, '-inf', '(' .. string.format('%.0f', now - window))
redis.call('PEXPIRE', arrivals, KEPT_MS)
local count = redis.call('ZCARD', arrivals)
local others = ARGV[1] == 'enter' and count - 1 or count

local id, since = redis.call('HGET', storm, 'id'), tonumber(redis.call('HGET', storm, 'since') or '0')
if id and others <= calm / 2 and now - since >= window then
  local roots, fields = {}, redis.call('HGETALL', storm)
  for i = 1, #fields, 2 do
    local root = string.match(fields[i], '^runs:(.*)$')
    if root then
      local leader = redis.call('HGET', storm, 'leader:' .. root)
      roots[#roots + 1] = {root = root, runs = tonumber(fields[i + 1]), leader = leader}
    end
  end
  table.sort(roots, function(a, b)
    if a.runs ~= b.runs then return a.runs > b.runs end
    return a.root < b.root
  end)
  local more = math.max(#roots - LISTED, 0)
  for _ = 1, more do table.remove(roots) end
  local digest = {since = since, runs = redis.call('SCARD', runs), roots = roots, more = more}
  redis.call('HSET', ended, id, cjson.encode(digest))
  redis.call('PEXPIRE', ended, KEPT_MS)
  redis.call('DEL', storm, runs)
  id = false
end
if ARGV[1] == 'look' then
  local on = id == ARGV[5]
  return {on and 'on' or '', redis.call('HGET', ended, ARGV[5]) or '', count, on and since or 0}
end

if not id then
  if count <= calm then return {'', '', count, 0} end
  id, since = ARGV[5], now
  redis.call('HSET', storm, 'id', id, 'since', ARGV[2])
end
local leader = redis.call('HGET', storm, 'leader:' .. ARGV[6])
if not leader or leader == ARGV[7] then
  leader = ARGV[5]
  redis.call('HSET', storm, 'leader:' .. ARGV[6], leader)
end
if redis.call('SADD', runs, ARGV[5]) == 1 then redis.call('HINCRBY', storm, 'runs:' .. ARGV[6], 1) end
redis.call('PEXPIRE', storm, KEPT_MS)
redis.call('PEXPIRE', runs, KEPT_MS)
return {id, leader, count, since}
