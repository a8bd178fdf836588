// swift-tools-version: 6.1

import PackageDescription

// A package of its own, which fetches nothing: only the library, as a user builds it.

let package = Package(
    name: "log-goals",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "web-service-client", path: "../..")],
    targets: [
        .target(name: "Meter"),
        .executableTarget(
            name: "log-goals",
            dependencies: [
                "Meter", .product(name: "RemoteLogger", package: "web-service-client"),
                .product(name: "WebServiceClient", package: "web-service-client"),
            ],
            path: "Sources/LogGoals",
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]),
    ]
)
