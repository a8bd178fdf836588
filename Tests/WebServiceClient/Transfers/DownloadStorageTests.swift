import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Downloads to disks that take no more, and to folders that can't be written.
@Suite struct DownloadStorageTests {
    private let folder = TemporaryFolder()

    #if canImport(Glibc)
    @Test func `a full disk is an error that names the file, and the download continues when there is room`() async throws {
        let data = SeededGenerator.bytes(300_000)
        let files = FileServer(data)
        let server = try files.start()
        let file = folder.url.appending(path: "archive.bin")
        let (root, path) = (server.url.absoluteString, file.path(percentEncoded: false))
        await ExitTesting.alone {
            await #expect(processExitsWith: .exitCode(0)) { [root = root as String, path = path as String] in
                ExitTesting.endLater()
                await SmallDisk.download(from: root, to: path)
            }
        }
        let message = try String(contentsOf: folder.url.appending(path: "message"), encoding: .utf8)
        #expect(message.hasPrefix("storage The partial file of archive.bin can't be written (file too large): "), "\(message)")
        #expect(PartialDownload(to: file)?.completed == Int64(SmallDisk.room))
        let archive = Archive(serviceRoot: root)
        let result = try await archive.http.get("/file").download(to: file)
        #expect(result.received == 300_000 - Int64(SmallDisk.room) && result.restarts.isEmpty)
        #expect(try Data(contentsOf: file) == data)
    }
    #endif

    @Test func `the folder is read-only`() async throws {
        // The superuser may write everywhere, except where the kernel refuses.
        let isRoot = geteuid() == 0
        #if os(Linux)
        let place = isRoot ? URL(filePath: "/sys/") : folder.url
        #else
        guard !isRoot else {
            print("Skipped for the superuser: a download to a folder that is read-only.")
            return
        }
        let place = folder.url
        #endif
        if !isRoot { chmod(place.path(percentEncoded: false), 0o500) }
        defer { if !isRoot { chmod(place.path(percentEncoded: false), 0o700) } }
        let server = try FileServer(Data("x".utf8)).start()
        let call = Archive(serviceRoot: server.url.absoluteString).http.get("/file")
        let error = await #expect(throws: TransferError.self) { try await call.download(to: place.appending(path: "archive.bin")) }
        #expect(error?.reason == .storage)
        let message = error?.message ?? ""
        #expect(message.hasPrefix("The partial file of archive.bin can't be created ("), "\(message)")
        #expect(message.contains("permission") || message.contains("read-only"), "\(message)")
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [
        (ENOSPC, "(no space left on device): make room on the disk"), (EACCES, "(permission denied): check the permissions"),
        (EROFS, "(read-only file system): use a folder"), (ENOENT, "(no such file or directory): create the folder"),
    ])
    func `errors of the system have a reason and a fix`(code: Int32, text: String) {
        #expect(PrivateFile.reason(of: code).hasPrefix(text))
    }
}

#if canImport(Glibc)
/// A process whose files can't grow beyond a limit, as on a full disk.
private enum SmallDisk {
    static let room = 100_000

    static func download(from root: String, to path: String) async {
        // A write beyond the limit returns an error only if its signal is ignored.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(room), rlim_max: .max)
        guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(1) }
        let file = URL(filePath: path)
        var message = "no error"
        do {
            _ = try await Archive(serviceRoot: root).http.get("/file").download(to: file)
        } catch {
            message = "\((error as? TransferError)?.reason.rawValue ?? "") \(error)"
        }
        try? Data(message.utf8).write(to: file.deletingLastPathComponent().appending(path: "message"))
        exit(0)
    }
}
#endif
