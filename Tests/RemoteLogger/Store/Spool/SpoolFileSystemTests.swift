import Foundation
import Testing

@testable import RemoteLogger

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite struct SpoolFileSystemTests {
    @Test func `a folder's names are all listed`() throws {
        let folder = URL.temporaryDirectory.appending(path: "spool-names-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // More than the system returns at once.
        let names = (0..<2_000).map { "\($0)-\(String(repeating: "n", count: $0 % 40))" } + [String(repeating: "é", count: 127)]
        for name in names { try Data().write(to: folder.appending(path: name)) }
        #expect(Set(try SpoolFileSystem.system.list(folder.path(percentEncoded: false))) == Set(names))
        #expect(throws: SpoolFault(ENOENT, "opendir")) { try SpoolFileSystem.system.list(folder.path(percentEncoded: false) + "/none") }
    }

    @Test func `a folder that can't be read to its end is a fault, and no shorter list`() throws {
        let name = strdup("1-1")
        defer { free(name) }
        var calls = 0
        #expect(throws: SpoolFault(EIO, "readdir")) {
            try SpoolFileSystem.names {
                calls += 1
                errno = calls > 1 ? EIO : 0
                return calls > 1 ? nil : UnsafePointer(name)
            }
        }
        #expect(calls == 2)
    }
}
