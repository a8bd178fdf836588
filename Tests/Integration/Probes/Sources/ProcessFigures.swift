import Foundation

/// The system's figures for this process.
enum ProcessFigures {
    /// The resident memory in bytes; 0 if the system doesn't report it.
    static var resident: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    /// The number of threads; 0 if the system doesn't report it.
    static var threads: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0 }

    /// Returns the names of the sockets that a child process inherits. Doesn't use Foundation's `Process`, which closes them.
    static func socketsOfChild() throws -> Set<String> {
        let pipe = Pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe.fileHandleForWriting.fileDescriptor, 1)
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup("ls -l /proc/$$/fd"), nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        guard posix_spawn(&child, "/bin/sh", &actions, nil, words, nil) == 0 else { throw CocoaError(.executableLoad) }
        try pipe.fileHandleForWriting.close()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        return Set(
            String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("socket:") }.map(
                String.init))
    }
}
