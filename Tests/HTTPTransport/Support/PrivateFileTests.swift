import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct PrivateFileTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.url.appending(path: "state.json") }

    private func failure(_ body: () throws -> Void) -> PrivateFile.Failure? {
        do {
            try body()
            return nil
        } catch {
            return error as? PrivateFile.Failure
        }
    }

    @Test func `content is replaced, and only this user can access it`() throws {
        let file = PrivateFile(url)
        #expect(try file.read() == nil)
        let data = SeededGenerator.bytes(200_000)
        for content in [Data("a".utf8), data, Data()] {
            try file.replace(with: content)
            #expect(try file.read() == content)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600 && folder.names == ["state.json"])
        try file.remove()
        try file.remove()
        #expect(try file.read() == nil)
    }

    @Test func `files that others can access are read only if they may`() throws {
        var file = PrivateFile(url)
        try file.replace(with: Data("a".utf8))
        chmod(file.path, 0o644)
        #expect(failure { _ = try file.read() }?.kind == .shared)
        file.admitsOthers = true
        #expect(try file.read() == Data("a".utf8))
    }

    @Test func `links, folders and large files`() throws {
        var file = PrivateFile(url, sizeLimit: 2_048)
        try file.replace(with: Data(count: 2_048))
        let link = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        var other = PrivateFile(link)
        #expect(try other.read()?.count == 2_048)
        other.followsLinks = false
        #expect(failure { _ = try other.read() }?.kind == .system)
        try file.replace(with: Data(count: 2_049))
        #expect(failure { _ = try file.read() }?.reason.contains("at most 2 KiB") == true)
        #expect(failure { _ = try PrivateFile(folder.url).read() }?.kind == .unfit)
        file = PrivateFile(folder.url.appending(path: "a/b/state.json"))
        file.createsFolder = false
        let missing = failure { try file.replace(with: Data()) }
        #expect(missing?.reason == "can't be written (no such file or directory): create the folder.")
        file.createsFolder = true
        try file.replace(with: Data())
        #expect(try file.read()?.isEmpty == true)
    }

    @Test func `what can't be replaced stays, and no temporary file remains`() throws {
        let target = folder.url.appending(path: "folder")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let reason = failure { try PrivateFile(target).replace(with: Data("a".utf8)) }?.reason ?? ""
        #expect(reason.hasPrefix("can't be replaced ("), "\(reason)")
        #expect(folder.names == ["folder"])
        #expect(PrivateFile.reason(of: ENOSPC) == "(no space left on device): make room on the disk")
    }
}
