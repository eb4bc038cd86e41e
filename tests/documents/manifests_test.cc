// The files of deploy/ must be consistent: a name that one of them uses is defined in another, or
// in the program. A cluster would report such an error late or not at all.

#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "tests/documents/source_text.h"

namespace belay::documents {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using Names = std::set<std::string>;

Names keys_of(const YAML::Node& map) {
  Names keys;
  for (const auto& entry : map) keys.insert(entry.first.as<std::string>());
  return keys;
}

// Calls `see` for every value of that key, at any depth.
void visit(const YAML::Node& node, const std::string& key,
           const std::function<void(const YAML::Node&)>& see) {
  if (!node.IsMap() && !node.IsSequence()) return;
  for (const auto& child : node) {
    const YAML::Node& inner = node.IsMap() ? child.second : child;
    if (node.IsMap() && child.first.as<std::string>() == key) see(inner);
    visit(inner, key, see);
  }
}

// Returns the names of files that `text` contains after the folder that they are mounted in.
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

// Returns the keys of each ConfigMap, by its name.
std::map<std::string, Names> settings() {
  std::map<std::string, Names> found;
  for (const Manifest& each : of_kind({"ConfigMap"})) {
    found[each.root["metadata"]["name"].as<std::string>()] = keys_of(each.root["data"]);
  }
  return found;
}

// Returns the keys of each secret: those of the example, and of the one that deploy/README.md
// explains how to create.
std::map<std::string, Names> secrets() {
  std::map<std::string, Names> found;
  for (const Manifest& each : of_kind({"Secret"})) {
    found[each.root["metadata"]["name"].as<std::string>()] = keys_of(each.root["stringData"]);
  }
  std::string page = text_of("deploy/README.md");
  std::size_t at = page.find("create secret generic postgresql ");
  std::string command = at == page.npos ? "" : page.substr(at, page.find("\nkubectl", at) - at);
  for (const char* option : {"--from-file=", "--from-literal="}) {
    for (const std::string& given : named_in(option, command)) {
      found["postgresql"].insert(given.substr(0, given.find('=')));
    }
  }
  return found;
}

const Names kWorkloads{"Deployment", "StatefulSet", "Job"};

TEST(Manifests, EveryKeyThatAPodTakesStandsInItsMapOrSecret) {
  std::map<std::string, Names> in_maps = settings(), in_secrets = secrets();
  int seen = 0;
  auto look = [&](const YAML::Node& wanted, const std::map<std::string, Names>& known,
                  const std::string& name, const fs::path& file) {
    ++seen;
    auto found = known.find(name);
    ASSERT_NE(found, known.end()) << name << " in " << file;
    EXPECT_THAT(found->second, Contains(wanted["key"].as<std::string>())) << file;
  };
  for (const Manifest& each : of_kind(kWorkloads)) {
    visit(each.pod(), "configMapKeyRef", [&](const YAML::Node& wanted) {
      if (wanted["optional"] && wanted["optional"].as<bool>()) return;
      look(wanted, in_maps, wanted["name"].as<std::string>(), each.file);
    });
    visit(each.pod(), "secretKeyRef", [&](const YAML::Node& wanted) {
      look(wanted, in_secrets, wanted["name"].as<std::string>(), each.file);
    });
    visit(each.pod(), "configMap", [&](const YAML::Node& volume) {
      for (const auto& item : volume["items"]) {
        look(item, in_maps, volume["name"].as<std::string>(), each.file);
      }
    });
    visit(each.pod(), "secret", [&](const YAML::Node& volume) {
      for (const auto& item : volume["items"]) {
        look(item, in_secrets, volume["secretName"].as<std::string>(), each.file);
      }
    });
  }
  EXPECT_EQ(seen, 17);
}

// Returns the paths of the pod's files: each one where its volume is mounted.
Names files_in(const YAML::Node& pod) {
  std::map<std::string, std::string> folders;
  for (const auto& container : pod["containers"]) {
    for (const auto& mount : container["volumeMounts"]) {
      folders[mount["name"].as<std::string>()] = mount["mountPath"].as<std::string>();
    }
  }
  Names files;
  for (const auto& volume : pod["volumes"]) {
    std::string folder = folders[volume["name"].as<std::string>()];
    EXPECT_NE(folder, "") << volume["name"].as<std::string>();
    visit(volume, "items", [&](const YAML::Node& items) {
      for (const auto& item : items) files.insert(folder + "/" + item["path"].as<std::string>());
    });
  }
  return files;
}

// The URLs of the stores name the authority's certificate, the arguments name keys and settings.
TEST(Manifests, EveryFileThatAPodReadsIsMounted) {
  std::string urls = text_of("deploy/kubernetes/config.yaml");
  int seen = 0;
  for (const Manifest& each : of_kind(kWorkloads)) {
    Names mounted = files_in(each.pod());
    for (const auto& container : each.pod()["containers"]) {
      bool is_ours = container["image"].as<std::string>() == "belay:local";
      std::string text = YAML::Dump(container["args"]) + (is_ours ? urls : "");
      for (const char* folder :
           {"/run/secrets/belay/", "/run/secrets/postgresql/", "/etc/postgresql/"}) {
        for (const std::string& name : named_in(folder, text)) {
          ++seen;
          EXPECT_THAT(mounted, Contains(folder + name)) << each.file;
        }
      }
    }
  }
  EXPECT_EQ(seen, 7);
}

TEST(Manifests, EverySelectorFindsItsPods) {
  Names pods;
  for (const Manifest& each : of_kind(kWorkloads)) {
    std::string label = each.spec()["template"]["metadata"]["labels"]["app"].as<std::string>();
    pods.insert(label);
    if (each.kind() == "Job") continue;  // it finds its pods automatically
    EXPECT_EQ(each.spec()["selector"]["matchLabels"]["app"].as<std::string>(), label) << each.file;
  }
  EXPECT_EQ(pods.size(), 5u);
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

// Returns the ports by number and by name.
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

// Except for their passwords: the page explains and tests the roles.
TEST(Manifests, TheRolesOfPostgresqlAreThoseOfThePage) {
  for (const Manifest& each : of_kind({"ConfigMap"})) {
    if (each.file != "postgresql.yaml") continue;
    std::string sql = each.root["data"]["roles.sql"].as<std::string>();
    std::size_t rights = sql.find("CREATE SCHEMA ");
    ASSERT_NE(rights, sql.npos);
    EXPECT_THAT(text_of("docs/operations.md"), HasSubstr(sql.substr(rights)));
    return;
  }
  FAIL() << "there is no map of its settings";
}

// The port that the server listens on, that is published, and that is probed must be the same.
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
    if (each.pod()["containers"][0]["image"].as<std::string>() == "belay:local") {
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

// deploy/README.md explains how to create them, and that they are not part of the image.
TEST(Compose, EachFileOfASecretIsMadeAsThePageSays) {
  std::string path = (fs::path(BELAY_SOURCE_DIR) / "deploy/compose.yaml").string();
  std::string page = text_of("deploy/README.md");
  for (const auto& secret : YAML::LoadFile(path)["secrets"]) {
    std::string name = secret.second["file"].as<std::string>();
    EXPECT_THAT(page, HasSubstr("> " + name.substr(2) + "\n"));
  }
  EXPECT_THAT(text_of(".dockerignore"), HasSubstr("\ndeploy/secrets\n"));
}

// Both units use a SQLite store in one folder, which belongs to one user; that store reads
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
