// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "api/fake_recorder.h"
#include "dftracer/dftracer.hpp"

namespace dft {
namespace {

// The table of entities lives as long as the process: each test uses keys of its own.
class Entity : public ::testing::Test {
 protected:
  void SetUp() override {
    fake::reset();
    errno = ENOTTY;
  }
  void TearDown() override { EXPECT_EQ(errno, ENOTTY); }
};

TEST_F(Entity, IdIsTheFormats) {
  EXPECT_EQ(DFTRACER_C_ENTITY("protein_structure", "MGYP0001", DFT_STORE_LOCAL_DISK, "file:/a b"), 0x8f0de68c04eea0bfu);
  const fake::Record r = fake::named("EH").at(0);
  EXPECT_EQ(r.kind, model::RecordKind::kMetadata);
  EXPECT_EQ(r.cat, "dftracer");
  EXPECT_EQ(r.arg("id"), "\"8f0de68c04eea0bf\"");
  EXPECT_EQ(r.arg("type"), "\"protein_structure\"");
  EXPECT_EQ(r.arg("store"), "2");
  EXPECT_EQ(r.arg("uri"), "\"file:/a b\"");
}

TEST_F(Entity, IsWrittenOnceAndKeepsItsFirstUri) {
  const EntityID first = dftracer_declare_entity("t", "once", DFT_STORE_MEMORY, "one");
  EXPECT_EQ(dftracer_declare_entity("t", "once", DFT_STORE_DATABASE, "two"), first);
  ASSERT_EQ(fake::named("EH").size(), 1u);
  EXPECT_EQ(fake::named("EH").at(0).arg("uri"), "\"one\"");
}

TEST_F(Entity, TextsAreSanitisedAndCut) {
  const std::string longer(300, 'x');
  const EntityID id = dftracer_declare_entity("a\"b\n\xff|", "sanitised", DFT_STORE_OTHER, longer.c_str());
  EXPECT_EQ(fake::named("EH").at(0).arg("type"), "\"a_b___\"");
  EXPECT_EQ(fake::named("EH").at(0).arg("uri"), '"' + std::string(255, 'x') + '"');
  EXPECT_EQ(dftracer_declare_entity("a_b___", "sanitised", 0, nullptr), id);
  const std::string type40(40, 't');
  const std::string type31(31, 't');
  EXPECT_EQ(dftracer_declare_entity(type40.c_str(), "cut", 0, nullptr),
            dftracer_declare_entity(type31.c_str(), "cut", 0, nullptr));
}

TEST_F(Entity, NullTypeOrKeyIsNoEntity) {
  EXPECT_EQ(dftracer_declare_entity(nullptr, "k", 0, nullptr), 0u);
  EXPECT_EQ(dftracer_declare_entity("t", nullptr, 0, nullptr), 0u);
  dftracer_declare_entity_type(nullptr, 0, nullptr);
  EXPECT_TRUE(fake::state.records.empty());
}

TEST_F(Entity, TypeIsWrittenOnce) {
  DFTRACER_CPP_ENTITY_TYPE("dataset", DFT_ROLE_INPUT, "what is read");
  DFTRACER_C_ENTITY_TYPE("dataset", DFT_ROLE_OUTPUT, "changed");
  ASSERT_EQ(fake::named("ET").size(), 1u);
  EXPECT_EQ(fake::named("ET").at(0).arg("type"), "\"dataset\"");
  EXPECT_EQ(fake::named("ET").at(0).arg("role"), "1");
  EXPECT_EQ(fake::named("ET").at(0).arg("description"), "\"what is read\"");
}

TEST_F(Entity, EveryRelationOfEntitiesIsWritten) {
  const EntityID a = dftracer_declare_entity("t", "subject", 0, nullptr);
  const EntityID b = dftracer_declare_entity("t", "object", 0, nullptr);
  DFTRACER_C_ENTITY_RELATE(DFT_REL_DERIVED_FROM, a, b);
  DFTRACER_CPP_ENTITY_RELATE(DFT_REL_DERIVED_FROM, a, b);
  DFTRACER_C_ENTITY_RELATE(DFT_REL_USED, a, b);
  DFTRACER_C_ENTITY_RELATE(DFT_REL_PART_OF, 0, b);
  DFTRACER_C_ENTITY_RELATE(DFT_REL_PART_OF, a, 0);
  ASSERT_EQ(fake::named("ER").size(), 2u);
  EXPECT_EQ(fake::named("ER").at(0).arg("relation"), "16");
  EXPECT_EQ(fake::named("ER").at(0).arg("subject").size(), 18u);
  EXPECT_NE(fake::named("ER").at(0).arg("subject"), fake::named("ER").at(0).arg("object"));
}

TEST_F(Entity, RelationsOfEventsKeepOrderAndDuplicates) {
  EntityID file = 0;
  {
    DFTRACER_CPP_FUNCTION();
    file = DFTRACER_CPP_FUNCTION_USES("file", "relations");
    DFTRACER_CPP_FUNCTION_RELATE(DFT_REL_USED, file);
    DFTRACER_CPP_FUNCTION_RELATE(DFT_REL_PART_OF, file);
    DFTRACER_CPP_FUNCTION_RELATE(4, file);
    DFTRACER_CPP_FUNCTION_RELATE(-1, file);
    DFTRACER_CPP_FUNCTION_RELATE(DFT_REL_UPDATED, 0);
    DFTRACER_CPP_FUNCTION_GENERATES("model", "relations");
    profiler_dft_fn.relate(DFT_REL_INVALIDATED, "file", "old", DFT_STORE_LOCAL_DISK, "/old");
  }
  const fake::Record event = fake::state.records.back();
  ASSERT_EQ(event.args.size(), 4u);
  EXPECT_EQ(event.args[0].first, "used");
  EXPECT_EQ(event.args[0], event.args[1]);
  EXPECT_EQ(event.args[2].first, "generated");
  EXPECT_EQ(event.args[3].first, "invalidated");
  EXPECT_EQ(fake::named("EH").size(), 3u);
}

TEST_F(Entity, CMacrosRelateTheirRegions) {
  {
    DFTRACER_C_REGION_START(data_step);
    DFTRACER_C_REGION_RELATE(data_step, DFT_REL_GENERATED, 5);
    struct DFTracerData* data_fn = data_data_step;
    EXPECT_NE(DFTRACER_C_FUNCTION_USES("c", "k"), 0u);
    EXPECT_NE(DFTRACER_C_FUNCTION_GENERATES("c", "k"), 0u);
    DFTRACER_C_FUNCTION_RELATE(DFT_REL_UPDATED, 9);
  }
  EXPECT_EQ(fake::named("data_step").at(0).args.size(), 4u);
  DFTRACER_CPP_REGION(scoped);
  DFTRACER_CPP_REGION_RELATE(scoped, DFT_REL_USED, 1);
  DFTRACER_CPP_REGION_START(started);
  DFTRACER_CPP_REGION_DYN_RELATE(started, DFT_REL_USED, 1);
  DFTRACER_CPP_REGION_END(started);
  EXPECT_EQ(fake::named("started").at(0).args.size(), 1u);
}

TEST_F(Entity, ANewFileExplainsWhatItUses) {
  dftracer_declare_entity_type("explained", DFT_ROLE_REFERENCE, "d");
  const EntityID id = dftracer_declare_entity("explained", "k", DFT_STORE_NETWORK, "uri");
  ASSERT_EQ(fake::named("EH").size(), 1u);
  dftracer_finalize();
  fake::state.records.clear();
  dftracer_relate_entities(DFT_REL_CONTAINS, id, id);
  ASSERT_EQ(fake::named("EH").size(), 1u);
  EXPECT_EQ(fake::named("EH").at(0).arg("uri"), "\"uri\"");
  ASSERT_EQ(fake::named("ET").size(), 1u);
  EXPECT_EQ(fake::named("ET").at(0).arg("role"), "5");
  dftracer_relate_entities(DFT_REL_CONTAINS, id, id);
  dftracer_declare_entity("explained", "k", 0, nullptr);
  dftracer_declare_entity_type("explained", 0, nullptr);
  EXPECT_EQ(fake::named("EH").size(), 1u);
  EXPECT_EQ(fake::named("ET").size(), 1u);
}

TEST_F(Entity, DeclarationThatOpensTheFileIsWrittenOnce) {
  dftracer_finalize();
  dftracer_declare_entity("t", "opens", 0, nullptr);
  dftracer_declare_entity("t", "opens", 0, nullptr);
  EXPECT_EQ(fake::named("EH").size(), 1u);
}

}  // namespace
}  // namespace dft
