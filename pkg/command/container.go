package command

import (
	"slices"
	"strings"
)

// servers are the names that services and images of servers have.
const servers list = "web,app,api,db,database,postgres,postgresql,pg,mysql,mariadb,mongo,mongodb,redis,valkey," +
	"rabbitmq,rabbit,kafka,zookeeper,redpanda,nats,nginx,httpd,caddy,traefik,envoy,proxy," +
	"frontend,backend,server,client,worker,minio,localstack,elasticsearch,opensearch,kibana," +
	"grafana,prometheus,loki,jaeger,mailhog,mailpit,memcached,keycloak,vault,consul,etcd," +
	"clickhouse,qdrant,weaviate,meilisearch,typesense,ollama,adminer,pgadmin,jenkins,gitea," +
	"registry,wiremock,mockserver,sonarqube,neo4j,cassandra,influxdb,dynamodb-local,azurite," +
	"storybook,docs,site,gateway,ui,admin,dev,vite,next,django,rails,celery,sidekiq," +
	"timescaledb,cockroach,mongo-express,portainer,wordpress,ghost,n8n"

// up judges what compose starts: attached, it follows its services until they
// have ended, which a migration does and a database does not.
func up(c *call) verdict {
	if o := c.given("--watch,-w"); o != "" {
		return c.never(o)
	}
	if len(c.args) == 0 {
		for _, o := range c.opts {
			if list("-f,--file,-p,--project-name,--profile").has(o.name) && slices.ContainsFunc(nameWords(o.value), oneShot) {
				return c.unclear(o.name)
			}
		}
		return c.never()
	}
	serve, do := 0, 0
	for _, service := range c.args {
		words := nameWords(service)
		switch {
		case slices.ContainsFunc(words, oneShot):
			do++
		case slices.ContainsFunc(words, func(w string) bool { return servers.has(w) }):
			serve++
		}
	}
	switch len(c.args) {
	case do:
		return c.ends()
	case serve:
		return c.never()
	}
	return c.unclear()
}

// oneShot tells that a word of a name says that something is done once.
func oneShot(word string) bool {
	return doing.has(word) || runs.has(word)
}

// container judges what docker run and its like start: the command, else the image.
func (j *judge) container(c *call) verdict {
	if len(c.args) == 0 {
		return c.unclear()
	}
	if words := c.args[1:]; len(words) > 0 || c.has("--entrypoint") {
		if entry, ok := c.value("--entrypoint"); ok {
			words = append([]string{entry}, words...)
		}
		if v := j.run(words); v.answer != Unclear && words[0][:1] != "-" {
			return v.within(c.path...)
		}
	}
	image := c.args[0]
	image = image[strings.LastIndexByte(image, '/')+1:]
	image, _, _ = strings.Cut(image, ":")
	image, _, _ = strings.Cut(image, "@")
	if found := servers.find(image); found != "" {
		return c.never(found)
	}
	if o := c.given("-p,--publish,-P,--publish-all"); o != "" {
		return c.never(o)
	}
	return c.unclear()
}
