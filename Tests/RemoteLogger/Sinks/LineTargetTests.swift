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

@Suite struct LineTargetTests {
    #if os(Linux)
    @Test func `a link to a file whose name is no UTF-8 is a fault: it would become another file`() throws {
        let folder = URL.temporaryDirectory.appending(path: "line-target-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path(percentEncoded: false)
        let file = (path + "/log-").utf8CString.dropLast() + [CChar(bitPattern: 0xFF), 0]
        defer {
            _ = Array(file).withUnsafeBufferPointer { $0.baseAddress.map(unlink) }
            try? FileManager.default.removeItem(at: folder)
        }
        Array(file).withUnsafeBufferPointer { name in
            guard let name = name.baseAddress else { return }
            close(open(name, O_CREAT | O_WRONLY, 0o600))
            #expect(symlink(name, path + "/link") == 0)
        }
        #expect(throws: SpoolFault(ENOENT, "readlink")) { try LineTarget.following(path + "/link") }
    }
    #endif

    @Test func `links are followed to a file, also to one that isn't there yet`() throws {
        let folder = URL.temporaryDirectory.appending(path: "line-target-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path(percentEncoded: false)
        try FileManager.default.createSymbolicLink(atPath: path + "/first", withDestinationPath: "second")
        try FileManager.default.createSymbolicLink(atPath: path + "/second", withDestinationPath: path + "/file")
        #expect(try LineTarget.following(path + "/first") == .file(path + "/file"))
        try Data().write(to: folder.appending(path: "file"))
        #expect(try LineTarget.following(path + "/first") == .file(path + "/file"))
    }
}
