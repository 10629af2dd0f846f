#pragma once
namespace milvus { class FileManager {}; }
