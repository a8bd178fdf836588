// swift-tools-version: 6.1

import PackageDescription

// A separate package without dependencies except the library, as a user builds it. The trait adds swift-log, to measure other handlers that
// log through it.

let package = Package(
    name: "log-goals",
    platforms: [.macOS(.v13)],
    traits: ["SwiftLog"],
    dependencies: [
        .package(name: "web-service-client", path: "../..", traits: [.trait(name: "SwiftLog", condition: .when(traits: ["SwiftLog"]))]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "Meter"),
        .executableTarget(
            name: "log-goals",
            dependencies: [
                "Meter", .product(name: "RemoteLogger", package: "web-service-client"),
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
            ],
            path: "Sources/LogGoals",
            // MemberImportVisibility is off for the reason that the library's Package.swift gives for tests.
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
            ]),
    ]
)
