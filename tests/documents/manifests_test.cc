// The files of deploy/ hold together: what one of them refers to stands in another, or in the
// program. A cluster or an engine would say so when it is too late, or not at all.

#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

namespace belay::documents {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using Names = std::set<std::string>;

std::string text_of(const fs::path& path) {
  std::ifstream file(fs::path(BELAY_SOURCE_DIR) / path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Names keys_of(const YAML::Node& map) {
  Names keys;
  for (const auto& entry : map) keys.insert(entry.first.as<std::string>());
  return keys;
}

// Whatever stands under that key, however deep.
void visit(const YAML::Node& node, const std::string& key,
           const std::function<void(const YAML::Node&)>& see) {
  if (!node.IsMap() && !node.IsSequence()) return;
  for (const auto& child : node) {
    const YAML::Node& inner = node.IsMap() ? child.second : child;
    if (node.IsMap() && child.first.as<std::string>() == key) see(inner);
    visit(inner, key, see);
  }
}

// Names of files, each after the folder that they are mounted in.
Names named_in(const std::string& folder, const std::string& text) {
  Names names;
  for (std::size_t at = text.find(folder); at != text.npos; at = text.find(folder, at + 1)) {
    std::size_t begin = at + folder.size();
    names.insert(text.substr(begin, text.find_first_of("&\" \n,]", begin) - begin));
  }
  return names;
}

struct Manifest {
  fs::path file;
  YAML::Node root;
  std::string kind() const { return root["kind"].as<std::string>(); }
  YAML::Node spec() const { return root["spec"]; }
  YAML::Node pod() const { return root["spec"]["template"]["spec"]; }
};

const std::vector<Manifest>& manifests() {
  static const std::vector<Manifest> all = [] {
    std::vector<Manifest> found;
    for (const auto& entry :
         fs::directory_iterator(fs::path(BELAY_SOURCE_DIR) / "deploy/kubernetes")) {
      for (YAML::Node& root : YAML::LoadAllFromFile(entry.path().string())) {
        found.push_back({entry.path().filename(), std::move(root)});
      }
    }
    return found;
  }();
  return all;
}

std::vector<Manifest> of_kind(const Names& kinds) {
  std::vector<Manifest> found;
  for (const Manifest& each : manifests()) {
    if (kinds.contains(each.kind())) found.push_back(each);
  }
  return found;
}

// The keys of the one map of settings, and those of the one secret.
Names keys_of_the(const std::string& kind, const std::string& member) {
  std::vector<Manifest> found = of_kind({kind});
  EXPECT_EQ(found.size(), 1u) << kind;
  return found.empty() ? Names() : keys_of(found[0].root[member]);
}

const Names kWorkloads{"Deployment", "Job"};

TEST(Manifests, EveryKeyThatAPodTakesStandsInItsMapOrSecret) {
  Names settings = keys_of_the("ConfigMap", "data");
  Names secrets = keys_of_the("Secret", "stringData");
  int seen = 0;
  for (const Manifest& each : of_kind(kWorkloads)) {
    visit(each.pod(), "configMapKeyRef", [&](const YAML::Node& wanted) {
      ++seen;
      EXPECT_EQ(wanted["name"].as<std::string>(), "belay") << each.file;
      if (wanted["optional"] && wanted["optional"].as<bool>()) return;
      EXPECT_THAT(settings, Contains(wanted["key"].as<std::string>())) << each.file;
    });
    visit(each.pod(), "secretKeyRef", [&](const YAML::Node& wanted) {
      ++seen;
      EXPECT_THAT(secrets, Contains(wanted["key"].as<std::string>())) << each.file;
    });
    visit(each.pod(), "items", [&](const YAML::Node& items) {
      for (const auto& item : items) {
        ++seen;
        EXPECT_THAT(secrets, Contains(item["key"].as<std::string>())) << each.file;
      }
    });
  }
  EXPECT_EQ(seen, 14);
}

// The URLs of the stores name the authority's certificate, the arguments the keys.
TEST(Manifests, EveryFileThatAPodReadsIsMounted) {
  const std::string folder = "/run/secrets/belay/";
  std::string urls = text_of("deploy/kubernetes/config.yaml");
  int pods = 0;
  for (const Manifest& each : of_kind(kWorkloads)) {
    Names mounted;
    visit(each.pod(), "items", [&](const YAML::Node& items) {
      for (const auto& item : items) mounted.insert(item["path"].as<std::string>());
    });
    if (mounted.empty()) continue;
    ++pods;
    for (const std::string& name : named_in(folder, urls + YAML::Dump(each.pod()["containers"]))) {
      EXPECT_THAT(mounted, Contains(name)) << each.file;
    }
  }
  EXPECT_EQ(pods, 3);
}

TEST(Manifests, EverySelectorFindsItsPods) {
  Names pods;
  for (const Manifest& each : of_kind({"Deployment"})) {
    std::string label = each.spec()["template"]["metadata"]["labels"]["app"].as<std::string>();
    EXPECT_EQ(each.spec()["selector"]["matchLabels"]["app"].as<std::string>(), label) << each.file;
    pods.insert(label);
  }
  EXPECT_EQ(pods.size(), 3u);
  for (const Manifest& each : of_kind({"Service"})) {
    EXPECT_THAT(pods, Contains(each.spec()["selector"]["app"].as<std::string>())) << each.file;
  }
  auto finds = [&](const YAML::Node& labels) {
    EXPECT_THAT(pods, Contains(labels["app"].as<std::string>()));
  };
  for (const Manifest& each : manifests()) visit(each.root, "matchLabels", finds);
  for (const Manifest& each : of_kind({"NetworkPolicy"})) {
    visit(each.root, "values", [&](const YAML::Node& labels) {
      for (const auto& label : labels) EXPECT_THAT(pods, Contains(label.as<std::string>()));
    });
  }
}

TEST(Manifests, AnAutoscalerAloneSaysHowMany) {
  Names scaled;
  for (const Manifest& each : of_kind({"HorizontalPodAutoscaler"})) {
    scaled.insert(each.spec()["scaleTargetRef"]["name"].as<std::string>());
  }
  EXPECT_EQ(scaled.size(), 2u);
  for (const Manifest& each : of_kind({"Deployment"})) {
    std::string name = each.root["metadata"]["name"].as<std::string>();
    EXPECT_NE(scaled.erase(name) == 1, each.spec()["replicas"].IsDefined()) << name;
  }
  EXPECT_TRUE(scaled.empty()) << *scaled.begin();
}

// By number or by name.
Names ports_of(const YAML::Node& pod) {
  Names ports;
  for (const auto& container : pod["containers"]) {
    for (const auto& port : container["ports"]) {
      ports.insert(port["name"].as<std::string>());
      ports.insert(port["containerPort"].as<std::string>());
    }
  }
  return ports;
}

TEST(Manifests, EveryProbeAsksAPortAndAPathThatThereAre) {
  std::string routes = text_of("src/server/health_routes.cc");
  int seen = 0;
  for (const Manifest& each : of_kind({"Deployment"})) {
    Names ports = ports_of(each.pod());
    for (const char* key : {"httpGet", "tcpSocket"}) {
      visit(each.pod(), key, [&](const YAML::Node& probe) {
        ++seen;
        EXPECT_THAT(ports, Contains(probe["port"].as<std::string>())) << each.file;
        if (!probe["path"]) return;
        EXPECT_THAT(routes, HasSubstr("\"" + probe["path"].as<std::string>() + "\""));
      });
    }
  }
  EXPECT_EQ(seen, 4);
}

// What listens, what is published, what is probed: one port.
TEST(Manifests, TheServersPortIsTheSameEverywhere) {
  const std::string listen = "\"--listen\", \"0.0.0.0:8123\"";
  std::string image = text_of("deploy/Dockerfile");
  for (const std::string& wanted :
       {listen, std::string("\nEXPOSE 8123\n"), std::string("/dev/tcp/127.0.0.1/8123 ")}) {
    EXPECT_THAT(image, HasSubstr(wanted));
  }
  EXPECT_THAT(text_of("deploy/kubernetes/serve.yaml"), HasSubstr(listen));
  EXPECT_THAT(text_of("deploy/kubernetes/serve.yaml"), HasSubstr("containerPort: 8123}"));
  EXPECT_THAT(text_of("deploy/compose.yaml"), HasSubstr(listen));
  EXPECT_THAT(text_of("deploy/compose.yaml"), HasSubstr(":8123\"]"));
  for (const char* path : {"\"/healthz\"", "\"/readyz\""}) {
    EXPECT_THAT(text_of("src/server/health_routes.cc"), HasSubstr(path));
  }
  EXPECT_THAT(image, HasSubstr("GET /healthz "));
}

TEST(Manifests, PodsRunAsTheUserThatTheImageMakes) {
  std::string image = text_of("deploy/Dockerfile");
  for (const char* wanted :
       {"groupadd --gid 10001 ", "useradd --uid 10001 --gid 10001 ", "\nUSER 10001:10001\n"}) {
    EXPECT_THAT(image, HasSubstr(wanted));
  }
  for (const Manifest& each : of_kind(kWorkloads)) {
    YAML::Node user = each.pod()["securityContext"];
    bool is_ours = each.file != "redis.yaml";
    if (is_ours) {
      EXPECT_EQ(user["runAsUser"].as<int>(), 10001) << each.file;
      EXPECT_EQ(user["runAsGroup"].as<int>(), 10001) << each.file;
      EXPECT_EQ(user["fsGroup"].as<int>(), 10001) << each.file;
    }
    EXPECT_TRUE(user["runAsNonRoot"].as<bool>()) << each.file;
  }
}

TEST(Compose, EverySecretAndVolumeIsDeclaredAndEveryFileThatIsReadIsASecret) {
  std::string path = (fs::path(BELAY_SOURCE_DIR) / "deploy/compose.yaml").string();
  YAML::Node file = YAML::LoadFile(path);
  Names secrets = keys_of(file["secrets"]), volumes = keys_of(file["volumes"]), used;
  Names services = keys_of(file["services"]);
  for (const auto& entry : file["services"]) {
    YAML::Node service = entry.second;
    std::string name = entry.first.as<std::string>();
    Names given;
    for (const auto& secret : service["secrets"]) given.insert(secret.as<std::string>());
    used.insert(given.begin(), given.end());
    for (const std::string& read : named_in("/run/secrets/", YAML::Dump(service))) {
      EXPECT_THAT(given, Contains(read)) << name;
    }
    for (const auto& volume : service["volumes"]) {
      std::string text = volume.as<std::string>();
      EXPECT_THAT(volumes, Contains(text.substr(0, text.find(':')))) << name;
    }
  }
  EXPECT_EQ(used, secrets);
  visit(file, "depends_on", [&](const YAML::Node& needed) {
    for (const std::string& name : keys_of(needed)) EXPECT_THAT(services, Contains(name));
  });
}

// deploy/README.md says how to make them, and that they stay out of the image.
TEST(Compose, EachFileOfASecretIsMadeAsThePageSays) {
  std::string path = (fs::path(BELAY_SOURCE_DIR) / "deploy/compose.yaml").string();
  std::string page = text_of("deploy/README.md");
  for (const auto& secret : YAML::LoadFile(path)["secrets"]) {
    std::string name = secret.second["file"].as<std::string>();
    EXPECT_THAT(page, HasSubstr("> " + name.substr(2) + "\n"));
  }
  EXPECT_THAT(text_of(".dockerignore"), HasSubstr("\ndeploy/secrets\n"));
}

// They keep a store on SQLite in one folder, which belongs to one user; and that store reads
// /proc/sys, which ProcSubset=pid would hide.
TEST(Units, ShareAUserAndLetAStoreOnSqliteBeOpened) {
  for (const char* name : {"belay-serve.service", "belay-worker@.service"}) {
    std::string unit = text_of(fs::path("deploy/systemd") / name);
    for (const char* wanted : {"\nDynamicUser=yes\nUser=belay\n", "\nStateDirectory=belay\n"}) {
      EXPECT_THAT(unit, HasSubstr(wanted)) << name;
    }
    EXPECT_EQ(unit.find("\nProcSubset="), unit.npos) << name;
  }
}

}  // namespace
}  // namespace belay::documents
